//! The broker: messages, deliveries, deadlines, dead letters.
//!
//! What it promises is a matter of its fields (`[broker]`), not of code: the same model is
//! at-least-once with acks, or at-most-once without.

mod delivering;
mod settling;

pub(crate) use delivering::GivenUp;
pub(crate) use settling::Settling;

use crate::agenda::Ms;
use crate::calls::CallKey;
use evidence::{MessageId, Slot};
use rustc_hash::FxHashMap;
use scenarios::file::{AfterMaxDeliver, Assign, BrokerProfile, BrokerTable, MaxDeliver};
use scheduler::ports::{Envelope, Key, Receipt};
use std::collections::VecDeque;

/// What a call asks of the broker.
#[derive(Clone, Debug)]
pub(crate) enum BrokerRequest {
    Publish(Envelope),
    Deliver,
    Ack(Receipt),
    Reject(Receipt),
    Defer(Receipt, Ms),
    Renew(Receipt),
}

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In the queue.
    Ready,
    /// Not before its time.
    Delayed,
    /// With a consumer.
    Unacked {
        instance: u8,
        /// When it goes back; `None`: never by itself.
        deadline: Option<Ms>,
    },
    /// Done.
    Settled,
    /// Parked for a person.
    Dead,
    /// Gone.
    Dropped,
}

pub(crate) struct Message {
    pub(crate) envelope: Envelope,
    pub(crate) state: State,
    /// Deliveries so far.
    pub(crate) deliveries: u32,
    /// Deliveries that count towards `max_deliver`.
    counted: u32,
}

impl Message {
    /// Whether it will never be delivered again.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, State::Settled | State::Dead | State::Dropped)
    }

    pub(crate) fn slot(&self) -> Option<Slot> {
        self.envelope.slot.truth()
    }
}

/// The fields of `[broker]`, as numbers.
#[derive(Default)]
struct Rules {
    ack_deadline: Option<Ms>,
    max_deliver: Option<u32>,
    drops: bool,
    deferral_counts: bool,
    ack_fencing: bool,
    dedup_window: Option<Ms>,
    redeliver_on_disconnect: bool,
    assign: Assign,
    loses_on_restart: bool,
    settles_on_delivery: bool,
}

impl Rules {
    fn of(table: &BrokerTable) -> Self {
        let ms = |switchable: scheduler::Switchable| switchable.0.map(scheduler::Span::ms);
        Rules {
            ack_deadline: ms(table.ack_deadline),
            max_deliver: match table.max_deliver {
                MaxDeliver::Unlimited => None,
                MaxDeliver::Times(times) => Some(times),
            },
            drops: table.then == AfterMaxDeliver::Drop,
            deferral_counts: table.deferral_counts,
            ack_fencing: table.ack_fencing,
            dedup_window: ms(table.dedup_window),
            redeliver_on_disconnect: table.redeliver_on_disconnect,
            assign: table.assign,
            loses_on_restart: table.loses_on_restart,
            settles_on_delivery: table.profile == BrokerProfile::AtMostOnce,
        }
    }
}

/// The state of the broker.
pub(crate) struct Broker {
    rules: Rules,
    pub(crate) messages: Vec<Message>,
    /// The place of each slot's newest message.
    newest: FxHashMap<Slot, u32>,
    ready: VecDeque<u32>,
    consumers: VecDeque<CallKey>,
    dedup: Vec<(Key, u32, Ms)>,
    /// While it restarts.
    pub(crate) down: bool,
}

/// What a publish came to.
pub(crate) struct Accepted {
    pub(crate) message: MessageId,
    pub(crate) deduplicated: bool,
}

impl Broker {
    /// No messages, and no promises.
    pub(crate) fn new() -> Self {
        Broker {
            rules: Rules::default(),
            messages: Vec::with_capacity(8),
            newest: FxHashMap::default(),
            ready: VecDeque::with_capacity(8),
            consumers: VecDeque::with_capacity(8),
            dedup: Vec::new(),
            down: false,
        }
    }

    /// Empty, with the promises of this table.
    pub(crate) fn open(&mut self, table: &BrokerTable) {
        self.rules = Rules::of(table);
        self.messages.clear();
        self.newest.clear();
        self.ready.clear();
        self.consumers.clear();
        self.dedup.clear();
        self.down = false;
    }

    /// A message is accepted, unless its dedup id is known: then the earlier one stands for it.
    pub(crate) fn publish(&mut self, now: Ms, envelope: Envelope) -> Accepted {
        let known = self.rules.dedup_window.and_then(|window| {
            self.dedup.retain(|(_, _, at)| now < at + window);
            let id = envelope.dedup_id.as_ref()?;
            self.dedup
                .iter()
                .find(|(known, _, _)| known == id)
                .map(|(_, place, _)| *place)
        });
        if let Some(place) = known {
            return Accepted {
                message: MessageId(place + 1),
                deduplicated: true,
            };
        }
        let place = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        if self.rules.dedup_window.is_some()
            && let Some(id) = &envelope.dedup_id
        {
            self.dedup.push((id.clone(), place, now));
        }
        if let Some(slot) = envelope.slot.truth() {
            self.newest.insert(slot, place);
        }
        self.messages.push(Message {
            envelope,
            state: State::Ready,
            deliveries: 0,
            counted: 0,
        });
        self.ready.push_back(place);
        Accepted {
            message: MessageId(place + 1),
            deduplicated: false,
        }
    }

    /// The place of the newest accepted message of a run's slot.
    pub(crate) fn accepted(&self, slot: Slot) -> Option<u32> {
        self.newest.get(&slot).copied()
    }

    /// The long polls that wait, the one that has waited longest first.
    pub(crate) fn consumers(&self) -> impl Iterator<Item = CallKey> {
        self.consumers.iter().copied()
    }

    /// The dedup ids that still count, with when each was accepted.
    pub(crate) fn remembered(&self, now: Ms) -> impl Iterator<Item = (&Key, Ms)> {
        let window = self.rules.dedup_window.unwrap_or(0);
        let live = self
            .dedup
            .iter()
            .filter(move |(_, _, at)| now < at + window);
        live.map(|(id, _, at)| (id, *at))
    }

    /// The copy of a message that an operator publishes.
    pub(crate) fn replay(&mut self, now: Ms, slot: Slot) -> Option<MessageId> {
        let place = self.accepted(slot)?;
        let envelope = Envelope {
            dedup_id: None,
            ..self.messages[place as usize].envelope.clone()
        };
        Some(self.publish(now, envelope).message)
    }
}

/// A receipt names the message and the delivery.
pub(crate) const fn receipt(place: u32, delivery: u32) -> Receipt {
    Receipt((place as u64) << 32 | delivery as u64)
}

const fn named(receipt: Receipt) -> (u32, u32) {
    ((receipt.0 >> 32) as u32, receipt.0 as u32)
}
