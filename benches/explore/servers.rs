//! The three servers' state and what each call does to it, for the standard scenario without a fault.
//! Who is told, and when, is not theirs.

mod database;
mod statements;

pub use database::Database;
pub use statements::StatementDatabase;

use evidence::{
    Holder, Ids, MessageId, RecordAtRest, RunKey, Slot, SlotTag, TimerId, Timestamp, TraceId,
};
use scheduler::ports::Key;
use std::collections::{BTreeMap, VecDeque};

/// How long an attempt owns its run: the default of `[guard] lease`.
const LEASE_MS: i64 = 45_000;
/// The default of `[guard] sweep_queued_after`.
const SWEEP_AFTER_MS: i64 = 90_000;
/// How long the writer of an outbox row has for publishing it itself.
const RELAY_AFTER_MS: i64 = 5_000;
/// The default of `[work.retry] max_attempts`.
const MAX_ATTEMPTS: u32 = 8;

fn key(ids: &Ids) -> &Key {
    ids.run.as_ref().map(RunKey::text).expect("a run")
}

/// A database, as the calls of the standard scenario use it.
pub trait Store: Default {
    /// dispatch.resume: the position of the timer, which is just before `started` where nobody has
    /// recorded one.
    fn resume(&mut self, timer: &TimerId, started: Timestamp) -> Timestamp;

    /// dispatch.claim: the record CREATED, the outbox row and the position; false if the record is
    /// there already.
    fn claim(&mut self, now: Timestamp, ids: &Ids, timer: &TimerId) -> bool;

    /// outbox.mark: the row is sent, and the record QUEUED if it is still CREATED (true then).
    fn mark(&mut self, now: Timestamp, ids: &Ids) -> bool;

    /// guard.enter: the number of the attempt, if `token` may make one.
    fn enter(&mut self, now: Timestamp, ids: &Ids, token: u64) -> Option<u32>;

    /// guard.finish: SUCCEEDED, if the run is still this attempt's.
    fn finish(&mut self, now: Timestamp, ids: &Ids, token: u64) -> bool;

    /// From when on the relay would find a row.
    fn relay_due(&self) -> Option<i64>;

    /// From when on recovery would find a run.
    fn recovery_due(&self) -> Option<i64>;

    /// The runs whose outbox row is pending.
    fn pending(&self) -> impl Iterator<Item = Slot>;

    /// The execution records.
    fn records(&self) -> impl Iterator<Item = RecordAtRest>;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageState {
    Ready,
    Unacked,
    Settled,
}

struct Message {
    slot: SlotTag,
    run: Option<RunKey>,
    trace: Option<TraceId>,
    state: MessageState,
    deliveries: u32,
}

/// Messages in the order of their acceptance, and whoever waits for one.
pub struct Broker<Consumer> {
    messages: Vec<Message>,
    ready: VecDeque<u32>,
    consumers: VecDeque<Consumer>,
}

impl<Consumer> Broker<Consumer> {
    pub fn new() -> Self {
        Broker {
            messages: Vec::with_capacity(8),
            ready: VecDeque::with_capacity(8),
            consumers: VecDeque::with_capacity(8),
        }
    }

    /// broker.publish: the message is accepted.
    pub fn publish(&mut self, ids: &Ids) -> MessageId {
        let place = self.messages.len() as u32;
        self.messages.push(Message {
            slot: ids.slot,
            run: ids.run.clone(),
            trace: ids.trace,
            state: MessageState::Ready,
            deliveries: 0,
        });
        self.ready.push_back(place);
        MessageId(place + 1)
    }

    /// Whether any message of the slot was accepted.
    pub fn accepted(&self, slot: SlotTag) -> bool {
        self.messages.iter().any(|message| message.slot == slot)
    }

    /// broker.deliver: somebody waits for a message.
    pub fn consume(&mut self, consumer: Consumer) {
        self.consumers.push_back(consumer);
    }

    /// Hands the first message that is ready to whoever has waited longest; says which delivery.
    pub fn hand_over(&mut self) -> Option<(Consumer, Ids)> {
        if self.consumers.is_empty() {
            return None;
        }
        let place = self.ready.pop_front()?;
        let consumer = self.consumers.pop_front()?;
        let message = &mut self.messages[place as usize];
        message.deliveries += 1;
        message.state = MessageState::Unacked;
        let ids = Ids {
            slot: message.slot,
            run: message.run.clone(),
            message: Some(MessageId(place + 1)),
            trace: message.trace,
            delivery: message.deliveries,
            attempt: 0,
        };
        Some((consumer, ids))
    }

    /// broker.ack: the delivery is done with, if it still holds the message.
    pub fn ack(&mut self, message: MessageId, delivery: u32) -> bool {
        let held = self.holds(message, delivery);
        if let Some(held) = held {
            held.state = MessageState::Settled;
            return true;
        }
        false
    }

    /// The deadline of a delivery: the message is ready again, unless it was settled.
    pub fn deadline(&mut self, message: MessageId, delivery: u32) {
        if let Some(held) = self.holds(message, delivery) {
            held.state = MessageState::Ready;
            self.ready.push_back(message.0 - 1);
        }
    }

    fn holds(&mut self, message: MessageId, delivery: u32) -> Option<&mut Message> {
        let held = self.messages.get_mut(message.0 as usize - 1)?;
        (held.state == MessageState::Unacked && held.deliveries == delivery).then_some(held)
    }

    /// The messages that are not settled.
    pub fn held(&self) -> impl Iterator<Item = (Slot, Holder)> {
        self.messages.iter().filter_map(|message| {
            let holder = match message.state {
                MessageState::Ready => Holder::ReadyMessage,
                MessageState::Unacked => Holder::UnackedMessage,
                MessageState::Settled => return None,
            };
            Some((message.slot.truth()?, holder))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    InFlight,
    Done,
}

/// The ledger, and the idempotency keys that it has seen.
#[derive(Default)]
pub struct Downstream {
    keys: BTreeMap<Key, Known>,
    ledger: u32,
}

impl Downstream {
    /// How long an effect takes: the default of `[downstream] latency`.
    pub const LATENCY_MS: u64 = 200;

    /// downstream.perform arrives: true if the effect is to be made.
    pub fn begin(&mut self, ids: &Ids) -> bool {
        self.keys
            .insert(key(ids).clone(), Known::InFlight)
            .is_none()
    }

    /// The effect is there; gives its number in the ledger.
    pub fn perform(&mut self, ids: &Ids) -> u32 {
        self.keys.insert(key(ids).clone(), Known::Done);
        self.ledger += 1;
        self.ledger
    }
}
