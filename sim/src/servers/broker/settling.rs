//! What a consumer says of a delivery: done, never again, later, or still at work.

use super::{Broker, State, named};
use crate::agenda::Ms;
use scheduler::ports::{Receipt, Settled};

/// What settling came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settling {
    /// Accepted.
    Accepted,
    /// Accepted; the message is available again, or given up, at this time.
    Later(Ms),
    /// Accepted; the deadline of this delivery is now at this time.
    Extended(Ms),
    /// Refused: another delivery holds the message, or none.
    NotYours,
}

impl Settling {
    pub(crate) const fn settled(self) -> Settled {
        match self {
            Settling::NotYours => Settled::NotYours,
            _ => Settled::Accepted,
        }
    }
}

impl Broker {
    /// Done. A late ack settles the message all the same, unless acks are fenced.
    pub(crate) fn ack(&mut self, receipt: Receipt) -> Settling {
        self.settle(receipt, State::Settled)
    }

    /// Never again.
    pub(crate) fn reject(&mut self, receipt: Receipt) -> Settling {
        self.settle(receipt, State::Dead)
    }

    fn settle(&mut self, receipt: Receipt, to: State) -> Settling {
        let (place, delivery) = named(receipt);
        let held = self.held(place, delivery);
        let fencing = self.rules.ack_fencing;
        let Some(message) = self.messages.get_mut(place as usize) else {
            return Settling::NotYours;
        };
        let late = matches!(
            message.state,
            State::Ready | State::Delayed | State::Unacked { .. }
        );
        if held || (late && !fencing) {
            message.state = to;
            return Settling::Accepted;
        }
        Settling::NotYours
    }

    /// Later: the message is not delivered again before `delay` is over.
    pub(crate) fn defer(&mut self, now: Ms, receipt: Receipt, delay: Ms) -> Settling {
        let (place, delivery) = named(receipt);
        if !self.held(place, delivery) {
            return Settling::NotYours;
        }
        let counts = self.rules.deferral_counts;
        let message = &mut self.messages[place as usize];
        message.state = State::Delayed;
        if !counts {
            message.counted -= 1;
        }
        Settling::Later(now + delay)
    }

    /// Still at work: the deadline starts anew.
    pub(crate) fn renew(&mut self, now: Ms, receipt: Receipt) -> Settling {
        let (place, delivery) = named(receipt);
        if !self.held(place, delivery) {
            return Settling::NotYours;
        }
        let Some(length) = self.rules.ack_deadline else {
            return Settling::Accepted;
        };
        if let State::Unacked { deadline, .. } = &mut self.messages[place as usize].state {
            *deadline = Some(now + length);
        }
        Settling::Extended(now + length)
    }

    /// Whether this delivery is the one that holds the message.
    fn held(&self, place: u32, delivery: u32) -> bool {
        self.messages.get(place as usize).is_some_and(|message| {
            message.deliveries == delivery && matches!(message.state, State::Unacked { .. })
        })
    }
}
