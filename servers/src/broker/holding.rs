//! Deferred messages in the memory of a worker (Celery's ETA and countdown).
//!
//! The broker knows nothing of the delay: to it this is an unsettled delivery, whose deadline runs.
//! When the deadline comes first, another worker gets the message too and holds it as well, and at
//! the end each of them runs it.

use super::delivering::{End, GivenUp};
use super::{Broker, Holder, State};
use crate::Ms;

impl<C: Copy, B: Clone> Broker<C, B> {
    /// A worker keeps the message to itself until `until`.
    pub(super) fn hold(&mut self, now: Ms, place: u32, until: Ms) {
        let message = &mut self.messages[place as usize];
        let deadline = self.rules.redelivery.deadline(now, 0, message.deliveries);
        let State::Unacked { holder, .. } = message.state else {
            // Put off by somebody who no longer has it: the broker itself keeps it.
            message.state = State::Delayed(until);
            return;
        };
        message.state = State::Held {
            holder,
            until,
            deadline,
        };
    }

    /// The deadline of a held message: one more worker holds it.
    pub(super) fn held_again(&mut self, now: Ms, place: u32) {
        let message = &mut self.messages[place as usize];
        let next = self.rules.redelivery.deadline(now, 0, message.deliveries);
        if let State::Held { deadline, .. } = &mut message.state {
            *deadline = next;
            message.copies += 1;
        }
    }

    /// These workers are gone with what they held: the broker learns of it at the deadline, unless
    /// another one holds the message too.
    pub(super) fn forget_held(&mut self, gone: impl Fn(Holder) -> bool) {
        for message in &mut self.messages {
            match message.state {
                State::Held {
                    holder, deadline, ..
                } if gone(holder) => match message.copies {
                    0 => message.state = State::Unacked { holder, deadline },
                    _ => message.copies -= 1,
                },
                _ => {}
            }
        }
    }

    /// Its time has come: every worker that holds it takes it up.
    pub(super) fn taken_up(&mut self, place: u32) -> Option<GivenUp> {
        let copies = self.messages[place as usize].copies;
        let given_up = self.back(place, End::Nack);
        if given_up.is_none() {
            for _ in 0..copies {
                self.ready.put_back(place, self.rules.nacked);
            }
        }
        given_up
    }

    /// The deadline of a message in the memory of a worker, if it is there and has one.
    pub fn held_until_deadline(&self, place: u32) -> Option<Ms> {
        match self.message(place)?.state {
            State::Held { deadline, .. } => deadline,
            _ => None,
        }
    }
}
