//! Sessions at the coordinator, kept alive by clients that are not simulated beat by beat.
//!
//! The client of a coordinator beats in the background, at instants of its own grid, for as long as
//! its process runs and reaches the coordinator. A beat that succeeds changes nothing but the end
//! of the session. So none of them is an action: whenever something looks at the coordinator, or is
//! about to happen to a process or a link, all beats since the last look are made up for at once.
//! Between two looks nothing has changed, so that each process has beaten all the time, or not at
//! all. A beat takes no time.

use crate::agenda::Ms;
use crate::keyed::{self, Use};
use crate::servers::coordinator::Member;
use crate::world::{World, key_of};
use scenarios::spec::{RunRef, Server};
use scheduler::ports::{Interest, SessionId};
use scheduler::steps;
use servers::coordinator::Coordinator;

/// What the client in one process knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// The session that it keeps alive.
    session: Option<SessionId>,
    /// All its beats up to here are made up for.
    kept_until: Ms,
    /// When a beat of its session was last answered.
    heard: Ms,
    /// Whether it was told that its session is over.
    told: bool,
}

impl World {
    /// All beats up to now are made.
    pub(crate) fn keep_sessions(&mut self) {
        if !self.constants.coordinated {
            return;
        }
        let (now, every) = (self.now, self.coordinator.profile().beat_every.max(1));
        for instance in 0..self.processes.len() {
            let from = self.beats_from(instance);
            let client = self.processes[instance].client;
            if let (Some(session), Some(from)) = (client.session, from)
                && from <= now
            {
                let last = from + (now - from) / every * every;
                let lives = self
                    .coordinator
                    .ends(session)
                    .is_some_and(|ends| ends > from);
                let client = &mut self.processes[instance].client;
                if lives {
                    client.heard = last;
                    self.coordinator.heard(last, session);
                } else {
                    client.told = true;
                }
            }
            self.processes[instance].client.kept_until = now;
        }
        self.coordinator.pass(now);
    }

    /// The first beat of a process that is not made up for, if things stay as they are.
    fn beats_from(&self, instance: usize) -> Option<Ms> {
        let process = &self.processes[instance];
        if !process.alive || process.paused_until.is_some() {
            return None;
        }
        let every = self.coordinator.profile().beat_every.max(1);
        let key = key_of(instance as u8, &steps::COORDINATOR_BEAT, RunRef::None);
        let phase = keyed::number(self.seed, key, Use::Number) % every;
        let link = &process.links[Server::Coordinator as usize];
        let open = link.to_server.max(link.from_server);
        let after = (process.client.kept_until + 1).max(open);
        Some(after + (phase + every - after % every) % every)
    }

    /// When a session is over, if things stay as they are; `None`: it is kept.
    fn session_ends(&self, session: SessionId, member: Member, ends: Ms) -> Option<Ms> {
        let instance = usize::from(member.instance);
        let keeps = self.processes[instance].client.session == Some(session)
            && self.is_current(member.instance, member.incarnation);
        let beats = self.beats_from(instance).filter(|_| keeps);
        (beats.is_none_or(|from| from >= ends)).then_some(ends)
    }

    /// From when on a session that waits for a better standing has it, as things are; all beats up
    /// to now are made.
    pub(crate) fn standing_due(&self, session: SessionId) -> Option<Ms> {
        if better(&self.coordinator, session) {
            return Some(self.now);
        }
        let sessions = self.coordinator.sessions();
        let mut over: Vec<(Ms, SessionId)> = sessions
            .filter_map(|(id, member, ends)| Some((self.session_ends(id, *member, ends)?, id)))
            .collect();
        over.sort_unstable();
        let mut then = self.coordinator.clone();
        over.into_iter().find_map(|(ends, id)| {
            then.leave(self.now, id);
            better(&then, session).then_some(ends)
        })
    }

    /// The client of an instance: when it last heard of this session, `None` if it is over.
    pub(crate) fn heard_of_session(&mut self, instance: u8, session: SessionId) -> Option<Ms> {
        self.keep_sessions();
        let client = &self.processes[usize::from(instance)].client;
        let known = client.session == Some(session) && !client.told;
        known.then_some(client.heard)
    }

    /// A session was opened, not by a copy of a request.
    pub(crate) fn session_opened(&mut self, instance: u8, session: SessionId) {
        let now = self.now;
        let client = &mut self.processes[usize::from(instance)].client;
        *client = Client {
            session: Some(session),
            kept_until: now,
            heard: now,
            told: false,
        };
    }

    /// Whoever waits for a better standing may have it.
    pub(crate) fn standings_changed(&mut self) {
        if self.constants.coordinated {
            self.rearrange_polls(|interest| matches!(interest, Interest::Standing { .. }));
        }
    }
}

/// Whether a session leads, is owed something, or is over.
fn better(coordinator: &Coordinator<Member>, session: SessionId) -> bool {
    let mut elections = coordinator.elections();
    coordinator.ends(session).is_none()
        || elections.any(|(_, leader, _, _)| leader == Some(session))
        || coordinator.is_owed(session)
}
