//! Everything that the future of a world at rest depends on, as bytes.
//!
//! What is left out must be something that no future reads: names that only label (incarnations,
//! numbers of messages and of ledger entries), the past of runs that are closed, and how often
//! something without a run has happened, since such calls are told apart by the moment
//! ([`crate::keyed::at_moment`]).
//!
//! A run is **closed** when no message of it is left, no instance waits for its slot, and the
//! position of its timer has passed it, so that no restart takes it up again. Of a closed run that
//! goes by a key of its own the state of its rows is read, not their history: who owned it, when,
//! how often it was tried.

use crate::agenda::Ms;
use crate::rest;
use crate::rest_point::{State, Waiting};
use crate::servers::database::Stored;
use crate::servers::downstream::Remembered;
use crate::setup::Constants;
use crate::tasks::TaskKey;
use crate::world::{World, run_in};
use evidence::{Ended, History, Judging, Slot, judge};
use scenarios::spec::RunRef;
use scheduler::IdentityKey;
use scheduler::ports::{Key, Table, Token, Value};
use scheduler::tables::{
    self, CALLS, CLAIMS, EFFECTS, LOCKS, OUTBOX, QUEUE, RUNS, TIMERS, calls, outbox, queue, runs,
    timers,
};
use std::sync::Arc;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Bytes in an order that matters, and a sum of hashes of what has none.
pub(crate) struct Reading {
    bytes: Vec<u8>,
    unordered: u64,
}

impl Reading {
    /// Reads a world at rest.
    pub(crate) fn of(world: &mut World, waiting: &Waiting, judging: &Judging) -> Self {
        let mut reading = Reading {
            bytes: Vec::with_capacity(512),
            unordered: 0,
        };
        let closed = Closed::of(world);
        reading.past(world, judging);
        reading.tasks(world, waiting);
        reading.clocks(world);
        reading.database(world, &closed);
        reading.servers(world, &closed);
        reading.counters(world, &closed);
        reading
    }

    pub(crate) fn digest(mut self) -> State {
        self.number(self.unordered);
        State(xxh3_128(&self.bytes))
    }

    fn number(&mut self, number: impl Into<u64>) {
        self.bytes.extend_from_slice(&number.into().to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn slot(&mut self, slot: Option<Slot>) {
        self.number(slot.map_or(0, number_of));
    }

    /// Adds something whose place among its like does not matter.
    fn add(&mut self, what: [u64; 3]) {
        let mut bytes = [0; 24];
        for (place, number) in bytes.chunks_exact_mut(8).zip(what) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        self.unordered = self.unordered.wrapping_add(xxh3_64(&bytes));
    }

    /// What the judge has seen: the verdict of a slot may hang on what is over.
    fn past(&mut self, world: &mut World, judging: &Judging) {
        let rest = rest::rest(world, Ended::Settled);
        let history = History {
            cast: world.constants.cast.clone(),
            planned: rest::planned(world),
            events: std::mem::take(&mut world.events),
            rest,
        };
        for slot in judge(&history, judging).slots {
            self.number(number_of(slot.slot));
            self.number(slot.verdict as u64);
            self.number(slot.effects);
        }
        world.events = history.events;
        // When patience ends, if not by the slots that are still to come.
        let constants = &world.constants;
        self.number(constants.last_slot.max(world.healed_at) - constants.last_slot);
    }

    /// Who waits for what. A task is named by its place among the live ones of its instance, which
    /// started in the same order.
    fn tasks(&mut self, world: &mut World, waiting: &Waiting) {
        for (at, instance, task) in &waiting.slots {
            self.number(*at);
            self.number(*instance);
            self.task(world, *task);
            let armed = world.armed.iter().find(|armed| armed.task == Some(*task));
            self.slot(armed.map(|armed| armed.slot));
        }
        self.number(u64::MAX);
        let next = waiting.slots.first().map_or(Ms::MAX, |(at, _, _)| *at);
        for key in &waiting.consumers {
            if let Some(call) = world.calls.get(*key) {
                let (instance, task, failures) = (call.instance, call.task, call.ids.attempt);
                // When an early loss would be noticed; later it is the grid of the instance.
                let deadline = if call.deadline > next {
                    call.deadline
                } else {
                    0
                };
                self.number(instance);
                self.number(failures);
                self.number(deadline);
                if let Some(task) = task {
                    self.task(world, task);
                }
            }
        }
        self.number(u64::MAX);
        // Nothing is in the memory of one that waits.
        let called: Vec<_> = world.executors.waiting().collect();
        for (instance, task) in called {
            self.number(instance);
            self.task(world, task);
        }
        for place in 0..world.pollers.len() {
            let poller = &world.pollers[place];
            let (instance, phase) = (poller.instance, poller.anchor % poller.every.max(1));
            if let Some(task) = poller.task {
                let name = world.tasks.place_among_alive(task);
                // In the order of their tasks, not of their restarts.
                self.add([u64::from(instance), name, phase]);
            }
        }
    }

    fn task(&mut self, world: &World, task: TaskKey) {
        self.number(world.tasks.place_among_alive(task));
    }

    fn clocks(&mut self, world: &World) {
        for process in &world.processes {
            self.number(process.clock.offset_ms().cast_unsigned());
            for task in &process.stop_waiters {
                if world.tasks.is_alive(*task) {
                    self.task(world, *task);
                }
            }
            self.number(u64::MAX);
        }
    }

    fn database(&mut self, world: &World, closed: &Closed) {
        for number in 0..tables::COUNT {
            let table = Table(number as u8);
            self.number(number as u64);
            for (key, row) in world.database.tables.rows(table) {
                match closed.keeps(table, key, row) {
                    Some(kept) => self.add([number as u64, kept, 0]),
                    None => self.row(key, row),
                }
            }
        }
    }

    fn row(&mut self, key: &Key, row: &Stored) {
        self.text(key);
        self.slot(row.slot.truth());
        for value in &row.cells {
            match value {
                Value::Null => self.number(0_u64),
                Value::Int(number) => {
                    self.number(1_u64);
                    self.number(number.cast_unsigned());
                }
                Value::Text(text) => {
                    self.number(2_u64);
                    self.text(text);
                }
            }
        }
    }

    fn servers(&mut self, world: &mut World, closed: &Closed) {
        let now = world.now;
        for (id, at) in world.broker.model().remembered(now) {
            self.text(id);
            self.number(at);
        }
        self.number(u64::MAX);
        for (holder, until) in world.broker.model().members() {
            self.number(holder);
            self.number(until.unwrap_or(Ms::MAX));
        }
        self.number(u64::MAX);
        // A tag of an old channel may be given again on a new one.
        for (holder, tag) in world.broker.model().last_tags() {
            self.number(holder);
            self.number(tag);
        }
        self.number(u64::MAX);
        for holder in world.broker.model().prefetchers() {
            self.number(holder);
        }
        self.number(u64::MAX);
        let locks = &world.locks.server.keys;
        for (key, token, expires) in locks.held(world.now) {
            self.lock(key, Some((token, expires)));
        }
        self.number(u64::MAX);
        // What a failover or a restart would bring back.
        for (at, key, before) in locks.past(world.now) {
            self.number(at);
            self.lock(key, before);
        }
        self.number(u64::MAX);
        self.coordinator(world);
        for (key, remembered) in world.downstream.remembered() {
            let (kind, value) = match remembered {
                Remembered::Key(at) => (1_u64, at),
                Remembered::Performed(from) => (2, from),
                Remembered::Fence(fence) => (3, fence),
                Remembered::Content(at) => (4, at),
            };
            match closed.by_key(key) {
                Some(slot) => self.add([kind, number_of(slot), u64::MAX]),
                None => {
                    self.number(kind);
                    self.text(key);
                    self.number(value);
                }
            }
        }
    }

    fn lock(&mut self, key: &str, held: Option<(&Token, Option<Ms>)>) {
        self.text(key);
        if let Some((token, expires)) = held {
            self.number(token.0);
            self.number(expires.unwrap_or(Ms::MAX));
        }
        self.number(u64::MAX);
    }

    fn coordinator(&mut self, world: &mut World) {
        // Sessions that are over are gone whether or not somebody has asked since.
        world.coordinator.pass(world.now);
        for (session, member, ends) in world.coordinator.sessions() {
            self.number(session.0);
            self.number(member.instance);
            self.number(member.incarnation);
            self.number(ends);
        }
        self.number(u64::MAX);
        for (election, leader, epoch, line) in world.coordinator.elections() {
            self.text(election);
            self.number(leader.map_or(0, |leader| leader.0));
            self.number(epoch.0);
            for session in line {
                self.number(session.0);
            }
            self.number(u64::MAX);
        }
        for (owner, epoch) in world.coordinator.owners() {
            self.number(owner.map_or(0, |owner| owner.0));
            self.number(epoch.0);
        }
        self.number(u64::MAX);
    }

    /// How often something of a run has happened that may happen again.
    fn counters(&mut self, world: &World, closed: &Closed) {
        for (kind, counters) in [(1, &world.occurrences), (2, &world.numbers)] {
            for (key, n) in counters {
                if let RunRef::Slot(slot) = run_in(*key)
                    && !closed.is(slot)
                {
                    self.add([kind, *key, u64::from(*n)]);
                }
            }
        }
    }
}

/// Which runs are over for good.
struct Closed {
    slots: Vec<Slot>,
    constants: Arc<Constants>,
}

impl Closed {
    fn of(world: &World) -> Self {
        Closed {
            slots: Self::slots(world),
            constants: world.constants.clone(),
        }
    }

    fn slots(world: &World) -> Vec<Slot> {
        if world.constants.local {
            // Nothing but the clock says which slots are over, and clocks may jump.
            return Vec::new();
        }
        let planned = world.constants.planned.iter();
        planned
            .filter(|planned| {
                let slot = planned.slot;
                let timer = &world.constants.cast.timers[usize::from(slot.timer)];
                let position = world.database.tables.get(TIMERS, timer.text());
                let passed =
                    position.is_some_and(|row| cell(row, timers::CURSOR.0) >= planned.scheduled.0);
                passed
                    && !world.armed.iter().any(|armed| {
                        armed.slot.timer == slot.timer && armed.slot.ordinal <= slot.ordinal
                    })
            })
            .map(|planned| planned.slot)
            .collect()
    }

    fn is(&self, slot: Slot) -> bool {
        self.slots.binary_search(&slot).is_ok()
    }

    /// The closed run that goes by a key, where keys are runKeys.
    fn by_key(&self, key: &Key) -> Option<Slot> {
        if self.constants.identity != IdentityKey::RunKey {
            return None;
        }
        let slot = *self.constants.slot_by_run.get(key)?;
        self.is(slot).then_some(slot)
    }

    /// What is read of a row of a closed run, if not all of it.
    fn keeps(&self, table: Table, key: &Key, row: &Stored) -> Option<u64> {
        let slot = row.slot.truth().filter(|slot| self.is(*slot))?;
        let own_key = self.constants.identity != IdentityKey::TimerId;
        let kept = match table {
            RUNS if own_key => cell(row, runs::STATE.0),
            CLAIMS => cell(row, runs::STATE.0),
            OUTBOX => cell(row, outbox::SENT.0),
            QUEUE => cell(row, queue::STATE.0),
            EFFECTS => 0,
            // A call that would still be made again keeps the world from resting.
            CALLS => {
                let said = [calls::ANSWER, calls::RESULT, calls::WATCHED];
                said.iter()
                    .fold(0, |kept, column| kept << 2 | cell(row, column.0))
            }
            LOCKS if self.constants.slot_by_run.get(key) == Some(&slot) => 0,
            _ => return None,
        };
        Some(number_of(slot) << 8 | kept.cast_unsigned() & 0xff)
    }
}

fn cell(row: &Stored, column: u8) -> i64 {
    row.cells.get(usize::from(column)).map_or(0, Value::int)
}

/// A slot as a number other than 0.
fn number_of(slot: Slot) -> u64 {
    1 + (u64::from(slot.timer) << 32 | u64::from(slot.ordinal))
}
