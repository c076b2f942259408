//! The ordered events of one execution, and what was left when it came to rest.

use crate::{Event, InstanceId, RecordState, RunKey, Slot, TimerId, Timestamp};
use std::sync::Arc;

/// Names that a history's numbers stand for; shared by all executions of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cast {
    /// Instances, by [`crate::InstanceId`].
    pub instances: Vec<Arc<str>>,
    /// Timers, by [`Slot::timer`].
    pub timers: Vec<TimerId>,
    /// True where runs are executed in the process that fired them: no messages, no deliveries.
    pub local: bool,
    /// True where the guard or claim keeps an execution record that ends in a final state.
    pub keeps_record: bool,
}

impl Cast {
    /// The name of an instance; `?` for one that is not in the cast.
    pub fn instance(&self, instance: InstanceId) -> &str {
        if instance == InstanceId::BROKER {
            return "broker";
        }
        self.instances
            .get(usize::from(instance.0))
            .map_or("?", |name| name)
    }

    /// The name of a slot, such as `report#2`; the timer is `?` where it is not in the cast.
    pub fn slot(&self, slot: Slot) -> String {
        let timer = self
            .timers
            .get(usize::from(slot.timer))
            .map_or("?", TimerId::as_str);
        format!("{timer}#{}", slot.ordinal)
    }
}

/// A slot that was due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Which.
    pub slot: Slot,
    /// When it was due.
    pub scheduled: Timestamp,
    /// The run it should become.
    pub run: RunKey,
}

/// Why an execution ended.
///
/// The order of the variants is part of history hashes: new ones go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ended {
    /// Nothing was in flight, no live timer, all pollers idle.
    #[default]
    Settled,
    /// The horizon came first.
    Horizon,
    /// The budget of polls, publishes or attempts ran out: a livelock.
    Livelock,
}

/// What still holds a run when the execution has ended.
///
/// The order of the variants is part of history hashes: new ones go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A message ready to be delivered, or delayed.
    ReadyMessage,
    /// A message handed over and never settled.
    UnackedMessage,
    /// A dead letter.
    DeadLetter,
    /// A pending row of the outbox.
    OutboxRow,
    /// An attempt that never ended.
    Attempt,
    /// A timer that is still to fire the slot.
    ArmedTimer,
    /// A call of an executor that is to be made again.
    CallRow,
}

/// One thing that still holds a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The run's slot.
    pub slot: Slot,
    /// What holds it.
    pub by: Holder,
}

/// The execution record of a run as the database has it at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordAtRest {
    /// The slot whose run wrote the record last.
    pub slot: Slot,
    /// Its state.
    pub state: RecordState,
    /// True if the record is one that a list of open work shows a person (CREATED or QUEUED in
    /// the table of runs); false for a row that nothing reads.
    pub listed: bool,
}

/// What was left when the execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rest {
    /// Why it ended.
    pub ended: Ended,
    /// When it ended.
    pub at: Timestamp,
    /// What still holds runs, ordered by slot.
    pub held: Vec<Held>,
    /// The execution records, ordered by slot.
    pub records: Vec<RecordAtRest>,
}

/// Everything that happened in one execution.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct History {
    /// The names.
    pub cast: Arc<Cast>,
    /// The slots that were due, ordered by slot.
    pub planned: Arc<[Planned]>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What was left.
    pub rest: Rest,
}
