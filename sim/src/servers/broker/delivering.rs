//! From the queue to a consumer, and back when the consumer does not settle.

use super::{Broker, State, receipt};
use crate::agenda::Ms;
use crate::calls::CallKey;
use evidence::MessageId;
use scenarios::file::Assign;
use scheduler::ports::Delivery;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A message is handed over.
pub(crate) struct HandedOver {
    /// The consumer's long poll.
    pub(crate) call: CallKey,
    /// The place of the message.
    pub(crate) message: u32,
    pub(crate) delivery: Delivery,
    /// When it goes back unless it is settled.
    pub(crate) deadline: Option<Ms>,
}

/// What becomes of a message that is not delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    DeadLettered(u32),
    Dropped(u32),
}

impl Broker {
    /// A consumer waits for a message.
    pub(crate) fn consume(&mut self, call: CallKey) {
        self.consumers.push_back(call);
    }

    /// Takes away the long polls that are not waiting any more, and gives them back.
    pub(crate) fn forget_consumers(
        &mut self,
        mut gone: impl FnMut(CallKey) -> bool,
    ) -> Vec<CallKey> {
        let mut forgotten = Vec::new();
        self.consumers.retain(|call| {
            let gone = gone(*call);
            if gone {
                forgotten.push(*call);
            }
            !gone
        });
        forgotten
    }

    /// Hands the first ready message to the consumer that has waited longest, if there are both.
    /// `instance` names the consumer's process.
    pub(crate) fn hand_over(
        &mut self,
        now: Ms,
        mut instance: impl FnMut(CallKey) -> u8,
    ) -> Option<HandedOver> {
        if self.down || self.consumers.is_empty() {
            return None;
        }
        let place = self.next_ready()?;
        let call = self.next_consumer(place, &mut instance)?;
        let deadline = self.rules.ack_deadline.map(|deadline| now + deadline);
        let settles = self.rules.settles_on_delivery;
        let message = &mut self.messages[place as usize];
        message.deliveries += 1;
        message.counted += 1;
        message.state = if settles {
            State::Settled
        } else {
            State::Unacked {
                instance: instance(call),
                deadline,
            }
        };
        let delivery = Delivery {
            message: MessageId(place + 1),
            envelope: message.envelope.clone(),
            count: message.deliveries,
            receipt: receipt(place, message.deliveries),
        };
        let deadline = deadline.filter(|_| !settles);
        Some(HandedOver {
            call,
            message: place,
            delivery,
            deadline,
        })
    }

    /// Of the consumers that wait the one to which the message goes.
    fn next_consumer(
        &mut self,
        place: u32,
        instance: &mut impl FnMut(CallKey) -> u8,
    ) -> Option<CallKey> {
        if self.rules.assign == Assign::LongestWaiting {
            return self.consumers.pop_front();
        }
        let run = self.messages.get(place as usize)?.envelope.run.as_str();
        let weight = |call: CallKey| xxh3_64_with_seed(run.as_bytes(), instance(call).into());
        let weights: Vec<u64> = self.consumers.iter().copied().map(weight).collect();
        // Of two with the same weight (one instance) the one that has waited longest.
        let places = (0..weights.len()).rev();
        let first = places.max_by_key(|place| weights.get(*place))?;
        self.consumers.remove(first)
    }

    fn next_ready(&mut self) -> Option<u32> {
        while let Some(place) = self.ready.pop_front() {
            // A late ack may have settled a message that waits in the queue.
            if self.messages[place as usize].state == State::Ready {
                return Some(place);
            }
        }
        None
    }

    /// The deadline of a delivery has come; `Some` if the message is given up.
    pub(crate) fn deadline(&mut self, now: Ms, place: u32, delivery: u32) -> Option<GivenUp> {
        let message = self.messages.get(place as usize)?;
        match message.state {
            State::Unacked {
                deadline: Some(deadline),
                ..
            } if message.deliveries == delivery && deadline <= now => self.back(place),
            _ => None,
        }
    }

    /// A deferred message's time has come.
    pub(crate) fn available(&mut self, place: u32) -> Option<GivenUp> {
        match self.messages.get(place as usize) {
            Some(message) if message.state == State::Delayed => self.back(place),
            _ => None,
        }
    }

    /// A consumer's connection broke.
    pub(crate) fn disconnect(&mut self, instance: u8) -> Vec<GivenUp> {
        if !self.rules.redeliver_on_disconnect {
            return Vec::new();
        }
        self.take_back(|holder| holder == instance)
    }

    /// The broker goes down: every connection breaks.
    pub(crate) fn go_down(&mut self) -> Vec<GivenUp> {
        self.down = true;
        if self.rules.loses_on_restart {
            self.ready.clear();
            let mut lost = Vec::new();
            for (place, message) in (0..).zip(&mut self.messages) {
                if matches!(
                    message.state,
                    State::Ready | State::Delayed | State::Unacked { .. }
                ) {
                    message.state = State::Dropped;
                    lost.push(GivenUp::Dropped(place));
                }
            }
            return lost;
        }
        if self.rules.redeliver_on_disconnect {
            self.take_back(|_| true)
        } else {
            Vec::new()
        }
    }

    fn take_back(&mut self, held_by: impl Fn(u8) -> bool) -> Vec<GivenUp> {
        let places: Vec<u32> = (0..)
            .zip(&self.messages)
            .filter(|(_, message)| {
                matches!(message.state, State::Unacked { instance, .. } if held_by(instance))
            })
            .map(|(place, _)| place)
            .collect();
        places
            .into_iter()
            .filter_map(|place| self.back(place))
            .collect()
    }

    /// Back into the queue, unless it has been delivered often enough.
    pub(super) fn back(&mut self, place: u32) -> Option<GivenUp> {
        let message = &mut self.messages[place as usize];
        if self
            .rules
            .max_deliver
            .is_some_and(|most| message.counted >= most)
        {
            return Some(if self.rules.drops {
                message.state = State::Dropped;
                GivenUp::Dropped(place)
            } else {
                message.state = State::Dead;
                GivenUp::DeadLettered(place)
            });
        }
        message.state = State::Ready;
        self.ready.push_back(place);
        None
    }
}
