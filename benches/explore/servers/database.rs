//! The database of the floor: no statement to interpret, nothing that could be rolled back.

use super::{Key, LEASE_MS, MAX_ATTEMPTS, RELAY_AFTER_MS, SWEEP_AFTER_MS, Store, key};
use evidence::{Ids, RecordAtRest, RecordState, Slot, SlotTag, TimerId, Timestamp, TraceId};
use std::collections::BTreeMap;

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

/// Execution records, outbox, positions of the timers: three maps, and a method a call.
#[derive(Default)]
pub struct Database {
    runs: BTreeMap<Key, RunRow>,
    outbox: BTreeMap<Key, OutboxRow>,
    timers: BTreeMap<Key, i64>,
}

impl Store for Database {
    fn resume(&mut self, timer: &TimerId, started: Timestamp) -> Timestamp {
        let position = self.timers.entry(timer.text().clone());
        Timestamp(*position.or_insert(started.0 - 1))
    }

    fn claim(&mut self, now: Timestamp, ids: &Ids, timer: &TimerId) -> bool {
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

    fn mark(&mut self, now: Timestamp, ids: &Ids) -> bool {
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

    fn enter(&mut self, now: Timestamp, ids: &Ids, token: u64) -> Option<u32> {
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

    fn finish(&mut self, _: Timestamp, ids: &Ids, token: u64) -> bool {
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

    fn relay_due(&self) -> Option<i64> {
        let pending = self.outbox.values().filter(|row| !row.sent);
        pending.map(|row| row.since + RELAY_AFTER_MS).min()
    }

    fn recovery_due(&self) -> Option<i64> {
        let due = |row: &RunRow| match row.state {
            RecordState::Running => row.until,
            RecordState::Queued | RecordState::Failed => Some(row.until? + SWEEP_AFTER_MS),
            _ => None,
        };
        self.runs.values().filter_map(due).min()
    }

    fn pending(&self) -> impl Iterator<Item = Slot> {
        let rows = self.outbox.values().filter(|row| !row.sent);
        rows.filter_map(|row| row.slot.truth())
    }

    fn records(&self) -> impl Iterator<Item = RecordAtRest> {
        self.runs.values().filter_map(|row| {
            Some(RecordAtRest {
                slot: row.slot.truth()?,
                state: row.state,
                listed: matches!(row.state, RecordState::Created | RecordState::Queued),
            })
        })
    }
}
