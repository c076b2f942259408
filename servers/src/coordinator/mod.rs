//! The coordinator: sessions, who leads, who has which shard. ZooKeeper, etcd and Kubernetes leases
//! in one model, told apart by their [`Profile`].
//!
//! The server never has two leaders: an election gives its epoch to one session, and the next epoch
//! is higher. Two instances can still *believe* that they lead, since what one believes ends by its
//! own clock, or when it is told ([`Belief`]); only an outside world that refuses lower epochs
//! ([`Fence`]) is safe from the one that was superseded. The other way round there is a gap: from
//! the moment a leader is gone until its session has ended nobody leads.
//!
//! ```
//! use runkey_servers::coordinator::{Coordinator, Fence, Profile};
//!
//! let mut coordinator = Coordinator::new(Profile::KUBERNETES, 0);
//! let (first, second) = (coordinator.join(0, "a"), coordinator.join(0, "b"));
//! let ask = |c: &mut Coordinator<_>, now, session| c.campaign(now, session, "report");
//! let old = ask(&mut coordinator, 0, first).expect("its session lives").expect("it leads");
//! // The first is cut off. Nobody leads before its 15 s are over.
//! coordinator.beat(14_000, second).expect("its session lives");
//! assert_eq!(ask(&mut coordinator, 14_999, second), Ok(None));
//! let new = ask(&mut coordinator, 15_000, second).expect("its session lives").expect("it leads");
//! let mut outside = Fence::default();
//! assert!(outside.admits(new));
//! assert!(!outside.admits(old), "whoever comes with an older epoch is refused");
//! ```

mod belief;
mod elections;
mod failover;
mod shards;

pub use belief::{Belief, Ends, Fence};

use crate::Ms;
use elections::Elections;
use failover::Notes;
use scheduler::ports::{Epoch, Failover, Item, SessionId, Shard};
use shards::Shards;
use std::collections::BTreeMap;

/// How a coordinator treats a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// A session of which nothing was heard for so long is over.
    pub timeout: Ms,
    /// Sessions are looked at only at multiples of this; 1: at once.
    pub tick: Ms,
    /// How often a client says that it is there.
    pub beat_every: Ms,
    /// How long a client that gets no answer goes on as if nothing were.
    pub gives_up_after: Ms,
    /// Whether any request keeps the session alive, not only a beat.
    pub any_request_counts: bool,
    /// How often a client looks whether its standing has changed; 1: it is told at once.
    pub look_every: Ms,
}

impl Profile {
    /// ZooKeeper with `tickTime` 2000 and Kafka's 18 s. The server takes from 2 to 20 ticks as a
    /// timeout (`minSessionTimeout`, `maxSessionTimeout`), and lets sessions end at the tick after
    /// it (`ExpiryQueue`). A client pings after a third of the timeout and counts as disconnected
    /// after two thirds (`ClientCnxn`: `readTimeout = sessionTimeout * 2 / 3`). Every request
    /// touches the session.
    pub const ZOOKEEPER: Profile = Profile {
        timeout: 18_000,
        tick: 2000,
        beat_every: 6000,
        gives_up_after: 12_000,
        any_request_counts: true,
        look_every: 1,
    };

    /// etcd with the lease of `concurrency.NewSession`: 60 s, kept alive after a third of it; the
    /// client closes the session when the time that the last answer gave it is over. The lessor
    /// looks for expired leases every 500 ms.
    pub const ETCD: Profile = Profile {
        timeout: 60_000,
        tick: 500,
        beat_every: 20_000,
        gives_up_after: 60_000,
        any_request_counts: false,
        look_every: 1,
    };

    /// Leader election of Kubernetes with the defaults of client-go's `leaderelection` as its
    /// components use them: `leaseDuration` 15 s, `renewDeadline` 10 s, `retryPeriod` 2 s.
    pub const KUBERNETES: Profile = Profile {
        timeout: 15_000,
        tick: 1,
        beat_every: 2000,
        gives_up_after: 10_000,
        any_request_counts: false,
        look_every: 2000,
    };

    /// The same with another timeout: what a client does keeps its share of it.
    #[must_use]
    pub const fn lasting(self, timeout: Ms) -> Profile {
        let whole = if self.timeout > 0 { self.timeout } else { 1 };
        Profile {
            timeout,
            beat_every: self.beat_every.saturating_mul(timeout) / whole,
            gives_up_after: self.gives_up_after.saturating_mul(timeout) / whole,
            ..self
        }
    }
}

/// The session is over, or never was: its instance has to join again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the coordinator knows no such session")]
pub struct Expired;

/// A session of a member `M`.
#[derive(Clone, Debug)]
struct Session<M> {
    member: M,
    /// From this moment on it is over.
    ends: Ms,
}

/// The coordinator; `M` is who opens a session.
#[derive(Clone, Debug)]
pub struct Coordinator<M> {
    profile: Profile,
    opened: u64,
    sessions: BTreeMap<SessionId, Session<M>>,
    elections: Elections,
    shards: Shards,
    notes: Notes,
}

impl<M> Coordinator<M> {
    /// Nobody is there; so many shards will be dealt out.
    pub fn new(profile: Profile, shards: u32) -> Self {
        Coordinator {
            profile,
            opened: 0,
            sessions: BTreeMap::new(),
            elections: Elections::default(),
            shards: Shards::new(shards),
            notes: Notes::default(),
        }
    }

    /// The same, with runs of shards that are done again when their owner's session is over.
    #[must_use]
    pub fn failing_over(self, policy: Failover) -> Self {
        Coordinator {
            notes: Notes::new(policy),
            ..self
        }
    }

    /// What its clients do.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Its client beat at this moment in the past, and nothing was heard of it since: as
    /// [`Coordinator::beat`], for a driver that makes up for beats that it left out. Nothing ends by
    /// it; a session that is over stays over.
    pub fn heard(&mut self, at: Ms, session: SessionId) {
        let ends = self.end_from(at);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.ends = session.ends.max(ends);
        }
    }

    /// When this session is over, if nothing more is heard of it; `None`: it is not open.
    pub fn ends(&self, session: SessionId) -> Option<Ms> {
        self.sessions.get(&session).map(|session| session.ends)
    }

    /// Notes that a run of a shard begins under this session.
    ///
    /// # Errors
    ///
    /// If the session is over.
    pub fn begin(&mut self, now: Ms, session: SessionId, item: Item) -> Result<(), Expired> {
        self.hear(now, session)?;
        self.notes.begin(session, item);
        Ok(())
    }

    /// Notes that the last run of a shard is done.
    ///
    /// # Errors
    ///
    /// If the session is over.
    pub fn finish(&mut self, now: Ms, session: SessionId, shard: u32) -> Result<(), Expired> {
        self.hear(now, session)?;
        self.notes.finish(session, shard);
        Ok(())
    }

    /// What former owners of its shards left behind; it is begun under this session with that.
    ///
    /// # Errors
    ///
    /// If the session is over.
    pub fn take_over(&mut self, now: Ms, session: SessionId) -> Result<Vec<Item>, Expired> {
        self.hear(now, session)?;
        let shards = self.shards.of(session).into_iter();
        Ok(self
            .notes
            .take_over(session, shards.map(|shard| shard.number)))
    }

    /// Whether something waits for this session to take it over.
    pub fn is_owed(&self, session: SessionId) -> bool {
        let shards = self.shards.of(session).into_iter();
        self.notes.waits(shards.map(|shard| shard.number))
    }

    /// A session is opened.
    pub fn join(&mut self, now: Ms, member: M) -> SessionId {
        self.pass(now);
        self.opened += 1;
        let (session, ends) = (SessionId(self.opened), self.end_from(now));
        self.sessions.insert(session, Session { member, ends });
        self.deal();
        session
    }

    /// The session is kept alive: until when.
    ///
    /// # Errors
    ///
    /// If the session is over.
    pub fn beat(&mut self, now: Ms, session: SessionId) -> Result<Ms, Expired> {
        self.pass(now);
        let ends = self.end_from(now);
        let session = self.sessions.get_mut(&session).ok_or(Expired)?;
        session.ends = ends;
        Ok(ends)
    }

    /// Asks to lead: the epoch if it leads now; else it stands in line.
    ///
    /// # Errors
    ///
    /// If the session is over.
    pub fn campaign(
        &mut self,
        now: Ms,
        session: SessionId,
        election: &str,
    ) -> Result<Option<Epoch>, Expired> {
        self.hear(now, session)?;
        Ok(self.elections.campaign(session, election))
    }

    /// Which shards it owns now, by number.
    ///
    /// # Errors
    ///
    /// If the session is over.
    pub fn shards(&mut self, now: Ms, session: SessionId) -> Result<Vec<Shard>, Expired> {
        self.hear(now, session)?;
        Ok(self.shards.of(session))
    }

    /// The session ends at once, by its own instance; nothing happens if it is over.
    pub fn leave(&mut self, now: Ms, session: SessionId) {
        self.pass(now);
        self.end(|ended, _| ended == session);
    }

    /// The coordinator loses the sessions of these members; they are not told.
    pub fn lose(&mut self, now: Ms, mut whose: impl FnMut(&M) -> bool) {
        self.pass(now);
        self.end(|_, session| whose(&session.member));
    }

    /// Another server of the ensemble takes over: sessions, leaders and shards stay, and every
    /// session has its full timeout again, since the new one does not know when the old one heard
    /// of it last (ZooKeeper's `SessionTracker` and etcd's `lessor.Promote` do so).
    pub fn fail_over(&mut self, now: Ms) {
        self.pass(now);
        let ends = self.end_from(now);
        for session in self.sessions.values_mut() {
            session.ends = session.ends.max(ends);
        }
    }

    /// Who leads, and under which epoch.
    pub fn leader(&mut self, now: Ms, election: &str) -> Option<(&M, Epoch)> {
        self.pass(now);
        let (session, epoch) = self.elections.leader(election)?;
        Some((&self.sessions.get(&session)?.member, epoch))
    }

    /// The open sessions in their order, each with its member and its end.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, &M, Ms)> {
        let sessions = self.sessions.iter();
        sessions.map(|(id, session)| (*id, &session.member, session.ends))
    }

    /// Every election in its order: leader, epoch, and who stands in line.
    pub fn elections(
        &self,
    ) -> impl Iterator<Item = (&str, Option<SessionId>, Epoch, &[SessionId])> {
        self.elections.all()
    }

    /// Every shard's owner so far, by number.
    pub fn owners(&self) -> impl Iterator<Item = (Option<SessionId>, Epoch)> {
        self.shards.owners()
    }

    /// Sessions whose time is over end now. Every request does this first.
    pub fn pass(&mut self, now: Ms) {
        self.end(|_, session| session.ends <= now);
    }

    /// Something is heard of a session.
    fn hear(&mut self, now: Ms, session: SessionId) -> Result<(), Expired> {
        if self.profile.any_request_counts {
            return self.beat(now, session).map(drop);
        }
        self.pass(now);
        let there = self.sessions.contains_key(&session);
        there.then_some(()).ok_or(Expired)
    }

    fn end(&mut self, mut ends: impl FnMut(SessionId, &Session<M>) -> bool) {
        let before = self.sessions.len();
        self.sessions.retain(|id, session| !ends(*id, session));
        if self.sessions.len() < before {
            let sessions = &self.sessions;
            self.elections.without(|id| !sessions.contains_key(&id));
            self.notes.without(|id| !sessions.contains_key(&id));
            self.deal();
        }
    }

    fn deal(&mut self) {
        self.shards.deal(self.sessions.keys().copied());
    }

    /// When a session of which something is heard now is over: at the first tick after its timeout.
    fn end_from(&self, now: Ms) -> Ms {
        let tick = self.profile.tick.max(1);
        now.saturating_add(self.profile.timeout).div_ceil(tick) * tick
    }
}

#[cfg(test)]
mod tests;
