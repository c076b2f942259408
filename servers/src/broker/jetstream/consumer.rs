//! One consumer of a stream: what it was handed, and how far all is acked.

use super::{AckPolicy, Reply};
use crate::Ms;
use crate::broker::{Broker, Receipt, Settling};
use std::collections::{BTreeMap, BTreeSet};

/// One consumer.
pub(super) struct Consumer {
    pub(super) queue: Broker<(), u64>,
    pub(super) policy: AckPolicy,
    /// The number of the next delivery.
    pub(super) next: u64,
    /// The number of the delivery under which each message counts as delivered.
    pub(super) counted_as: BTreeMap<u64, u64>,
    /// Up to which delivery, and which message, all is acked.
    pub(super) floor: (u64, u64),
    /// The last message that was delivered for the first time.
    pub(super) delivered: u64,
}

impl Consumer {
    pub(super) fn deliveries(&self, reply: Reply) -> u32 {
        self.queue
            .message(reply.receipt.message)
            .map_or(1, |message| message.deliveries)
    }

    /// Whether an answer is about something that lies below the floor.
    pub(super) const fn is_settled(&self, reply: Reply) -> bool {
        reply.consumer_seq <= self.floor.0
    }

    /// The messages that wait for an ack: delivered, not acked, not given up.
    pub(super) fn pending(&self) -> BTreeSet<u64> {
        let messages = self.queue.messages().iter();
        let pending = messages.filter(|message| message.deliveries > 0 && !message.is_over());
        pending.map(|message| message.body).collect()
    }

    /// Takes an ack in, and says which messages it settled.
    pub(super) fn ack(&mut self, now: Ms, reply: Reply) -> Vec<u64> {
        let Some(seq) = self
            .queue
            .message(reply.receipt.message)
            .map(|message| message.body)
        else {
            return Vec::new();
        };
        if self.policy == AckPolicy::All {
            return self.ack_all(now, seq, reply);
        }
        let mut number = reply.consumer_seq;
        if self.pending().contains(&seq) {
            number = self.counted_as.get(&seq).copied().unwrap_or(number);
        }
        let settled = self.queue.ack_at(now, reply.receipt) == Settling::Accepted;
        let pending = self.pending();
        if pending.is_empty() {
            self.floor = (self.next - 1, self.delivered);
        } else if number == self.floor.0 + 1 {
            self.floor = (number, seq);
            let next = pending.range(seq + 1..).next();
            if let Some((next, number)) =
                next.and_then(|seq| Some((seq, self.counted_as.get(seq)?)))
            {
                self.floor = (number - 1, next - 1);
            }
        }
        if settled { vec![seq] } else { Vec::new() }
    }

    fn ack_all(&mut self, now: Ms, seq: u64, reply: Reply) -> Vec<u64> {
        if reply.consumer_seq <= self.floor.0 || seq <= self.floor.1 {
            return Vec::new();
        }
        self.floor = (reply.consumer_seq, seq);
        let mut settled = Vec::new();
        for place in 0..self.queue.messages().len() as u32 {
            let Some(message) = self.queue.message(place) else {
                continue;
            };
            let (body, delivery) = (message.body, message.deliveries);
            if body <= seq
                && self.queue.ack_at(
                    now,
                    Receipt {
                        message: place,
                        delivery,
                    },
                ) == Settling::Accepted
            {
                settled.push(body);
            }
        }
        settled
    }
}
