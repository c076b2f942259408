//! Connections that break, and a broker that goes down.

use super::delivering::{End, GivenUp};
use super::rules::{Confirm, Crash};
use super::{Broker, Holder, State};
use crate::Ms;
use crate::broken::broken;

/// How a broker goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Outage {
    /// Its process ends; what it wrote is with the operating system.
    #[default]
    Process,
    /// The machine loses power: what is not on the disk is gone.
    Machine,
    /// A replica takes over that is behind by so much.
    Behind(Ms),
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// The connections of these holders broke, and with `memory_lost` what they kept in memory is
    /// gone. `Some` time: then something is due that no delivery announced.
    pub fn disconnect(
        &mut self,
        now: Ms,
        gone: impl Fn(Holder) -> bool,
        memory_lost: bool,
    ) -> (Vec<GivenUp>, Option<Ms>) {
        if memory_lost || self.rules.crash == Crash::OnDisconnect {
            self.forget_buffers(&gone);
            self.forget_held(&gone);
        }
        self.new_channel(&gone);
        if let Some(end) = self.session_end(now) {
            self.group.silent(&gone, end);
            for message in &mut self.messages {
                if let State::Unacked { holder, deadline } = &mut message.state
                    && gone(*holder)
                {
                    *deadline = Some(deadline.map_or(end, |at| at.min(end)));
                }
            }
            return (Vec::new(), Some(end));
        }
        if broken!(DisconnectKeepsMessages) {
            // With whoever is gone, and for ever.
            for message in &mut self.messages {
                if let State::Unacked { deadline, .. } = &mut message.state {
                    *deadline = None;
                }
            }
        }
        let at_once = self.rules.crash == Crash::OnDisconnect && !broken!(DisconnectKeepsMessages);
        let given_up = if at_once {
            self.take_back(gone, End::Disconnect)
        } else {
            Vec::new()
        };
        (given_up, None)
    }

    /// The broker goes down: every connection breaks, and what it had in memory only is lost.
    pub fn go_down(&mut self, now: Ms, outage: Outage) -> Vec<GivenUp> {
        self.down = true;
        let mut lost = self.lose(now, outage);
        if self.rules.crash == Crash::OnDisconnect {
            self.forget_buffers(|_| true);
            self.forget_held(|_| true);
            self.new_channel(|_| true);
            lost.extend(self.take_back(|_| true, End::Disconnect));
        }
        lost
    }

    /// Somebody empties the dead letters: they are no longer here. Gives their places.
    pub fn take_dead(&mut self) -> Vec<u32> {
        let mut taken = Vec::new();
        for (place, message) in (0..).zip(&mut self.messages) {
            if message.state == State::Dead {
                message.state = State::Dropped;
                taken.push(place);
            }
        }
        taken
    }

    /// The broker is back.
    pub const fn come_up(&mut self) {
        self.down = false;
    }

    fn lose(&mut self, now: Ms, outage: Outage) -> Vec<GivenUp> {
        let all = self.rules.loses_on_restart || self.rules.confirm == Confirm::Received;
        // Nothing since then is on the disk.
        let since = match (outage, self.rules.fsync_every) {
            (Outage::Machine, Some(every)) => Some(now - now % every.max(1)),
            (Outage::Behind(by), _) => Some((now + 1).saturating_sub(by)),
            _ => None,
        };
        let mut lost = Vec::new();
        let mut back = Vec::new();
        for (place, message) in (0..).zip(&mut self.messages) {
            let unwritten = since.is_some_and(|since| message.accepted_at >= since);
            let transient = !message.persistent && !broken!(TransientSurvives);
            match message.state {
                State::Settled => {
                    // The message is on the disk, its settlement is not.
                    let forgotten = since.is_some_and(|since| message.settled_at >= since);
                    if forgotten && !unwritten && !all {
                        message.state = State::Ready;
                        back.push(place);
                    }
                }
                State::Dead | State::Dropped | State::Kept => {}
                _ if all || unwritten || transient => {
                    message.state = State::Dropped;
                    lost.push(place);
                }
                _ => {}
            }
        }
        for place in &lost {
            self.ready.forget(*place);
        }
        for place in back {
            self.ready.put_back(place, self.rules.lost);
        }
        if all {
            self.dedup.clear();
        } else if !lost.is_empty() {
            self.dedup
                .forget_messages(|message| lost.contains(&message));
        }
        lost.into_iter().map(GivenUp::Dropped).collect()
    }
}
