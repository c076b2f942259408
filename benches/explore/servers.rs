//! The three servers' state and what each call does to it, written for the standard scenario alone:
//! no statements to interpret, no open transactions, no fault. Who is told, and when, is not theirs.

use evidence::{
    Holder, Ids, MessageId, RecordAtRest, RecordState, RunKey, Slot, SlotTag, TimerId, Timestamp,
    TraceId,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How long an attempt owns its run: the default of `[guard] lease`.
const LEASE_MS: i64 = 45_000;
/// The default of `[guard] sweep_queued_after`.
const SWEEP_AFTER_MS: i64 = 90_000;
/// How long the writer of an outbox row has for publishing it itself.
const RELAY_AFTER_MS: i64 = 5_000;
/// The default of `[work.retry] max_attempts`.
const MAX_ATTEMPTS: u32 = 8;

type Key = Arc<str>;

struct RunRow {
    state: RecordState,
    attempt: u32,
    owner: u64,
    until: Option<i64>,
    #[expect(dead_code, reason = "only read of what was left behind")]
    trace: Option<TraceId>,
    slot: SlotTag,
}

struct OutboxRow {
    sent: bool,
    since: i64,
    #[expect(dead_code, reason = "only read of what was left behind")]
    trace: Option<TraceId>,
    slot: SlotTag,
}

/// Execution records, outbox, positions of the timers.
#[derive(Default)]
pub struct Database {
    runs: BTreeMap<Key, RunRow>,
    outbox: BTreeMap<Key, OutboxRow>,
    timers: BTreeMap<Key, i64>,
}

fn key(ids: &Ids) -> &Key {
    ids.run.as_ref().map(RunKey::text).expect("a run")
}

impl Database {
    /// dispatch.resume: the position of the timer, which is `started` where nobody recorded one.
    pub fn resume(&mut self, timer: &TimerId, started: Timestamp) -> Timestamp {
        let position = self.timers.entry(timer.text().clone());
        Timestamp(*position.or_insert(started.0 - 1))
    }

    /// dispatch.claim: the record CREATED, the outbox row and the position, unless the record is
    /// there.
    pub fn claim(&mut self, now: Timestamp, ids: &Ids, timer: &TimerId) -> bool {
        let run = ids.run.as_ref().expect("a run");
        let std::collections::btree_map::Entry::Vacant(row) = self.runs.entry(run.text().clone())
        else {
            return false;
        };
        row.insert(RunRow {
            state: RecordState::Created,
            attempt: 0,
            owner: 0,
            until: Some(now.0),
            trace: ids.trace,
            slot: ids.slot,
        });
        let pending = OutboxRow {
            sent: false,
            since: now.0,
            trace: ids.trace,
            slot: ids.slot,
        };
        self.outbox.insert(run.text().clone(), pending);
        if let Some(position) = self.timers.get_mut(timer.text()) {
            *position = (*position).max(run.scheduled().0);
        }
        true
    }

    /// outbox.mark: the row is sent, and the record QUEUED if it is still CREATED (true then).
    pub fn mark(&mut self, now: Timestamp, ids: &Ids) -> bool {
        if let Some(row) = self.outbox.get_mut(key(ids)) {
            row.sent = true;
            row.slot = ids.slot;
        }
        match self.runs.get_mut(key(ids)) {
            Some(row) if row.state == RecordState::Created => {
                row.state = RecordState::Queued;
                row.until = Some(now.0);
                row.slot = ids.slot;
                true
            }
            _ => false,
        }
    }

    /// guard.enter: the number of the attempt, if `token` may make one.
    pub fn enter(&mut self, now: Timestamp, ids: &Ids, token: u64) -> Option<u32> {
        let row = self.runs.entry(key(ids).clone()).or_insert_with(|| RunRow {
            state: RecordState::Created,
            attempt: 0,
            owner: 0,
            until: None,
            trace: ids.trace,
            slot: ids.slot,
        });
        let over = row.until.is_some_and(|until| until <= now.0);
        let free = match row.state {
            RecordState::Created | RecordState::Queued => true,
            RecordState::Failed | RecordState::Running => over,
            _ => false,
        };
        if !free || row.attempt >= MAX_ATTEMPTS {
            return None;
        }
        row.state = RecordState::Running;
        row.attempt += 1;
        row.owner = token;
        row.until = Some(now.0 + LEASE_MS);
        row.slot = ids.slot;
        Some(row.attempt)
    }

    /// guard.finish: SUCCEEDED, if the run is still this attempt's.
    pub fn finish(&mut self, ids: &Ids, token: u64) -> bool {
        match self.runs.get_mut(key(ids)) {
            Some(row) if row.owner == token => {
                row.state = RecordState::Succeeded;
                row.attempt = ids.attempt;
                row.until = None;
                row.slot = ids.slot;
                true
            }
            _ => false,
        }
    }

    /// From when on the relay would find a row.
    pub fn relay_due(&self) -> Option<i64> {
        let pending = self.outbox.values().filter(|row| !row.sent);
        pending.map(|row| row.since + RELAY_AFTER_MS).min()
    }

    /// From when on recovery would find a run.
    pub fn recovery_due(&self) -> Option<i64> {
        let due = |row: &RunRow| match row.state {
            RecordState::Running => row.until,
            RecordState::Queued | RecordState::Failed => Some(row.until? + SWEEP_AFTER_MS),
            _ => None,
        };
        self.runs.values().filter_map(due).min()
    }

    /// The runs whose outbox row is pending.
    pub fn pending(&self) -> impl Iterator<Item = Slot> {
        let rows = self.outbox.values().filter(|row| !row.sent);
        rows.filter_map(|row| row.slot.truth())
    }

    /// The execution records.
    pub fn records(&self) -> impl Iterator<Item = RecordAtRest> {
        self.runs.values().filter_map(|row| {
            Some(RecordAtRest {
                slot: row.slot.truth()?,
                state: row.state,
                listed: matches!(row.state, RecordState::Created | RecordState::Queued),
            })
        })
    }
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
