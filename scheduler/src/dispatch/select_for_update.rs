//! The claim under SELECT FOR UPDATE: a row is locked, the timer's position read, and moved before
//! the lock ends.
//!
//! Promises that nobody else reads the position between the read and the commit. Breaks where the
//! row that is to be locked is not there, which locks nothing and says nothing; and where the
//! position is read from a replica that does not have the last commit yet. Source: B01 (Quartz with
//! acquireTriggersWithinLock), B10, B11 (XXL-JOB's schedule_lock).

use super::position::{Position, PositionClaim};
use super::statements::moved;
use super::{Claim, Fire};
use crate::ports::{Condition, Expr, Key, RowLock, Statement, Test};
use crate::tables::{LOCKS, TIMERS, timers};
use evidence::TimerId;
use serde::{Deserialize, Serialize};

/// `claim = { kind = "select_for_update", .. }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelectForUpdateConfig {
    /// Whether the row that is to be locked is there. Default: it is.
    pub row: LockedRow,
    /// Where the position is read. Default: in the transaction that holds the lock.
    pub read: ReadsFrom,
    /// What one row locks. Default: its timer.
    pub per: LocksPer,
}

/// Whether the row that is to be locked is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockedRow {
    /// Somebody has inserted it once.
    #[default]
    Present,
    /// It was never inserted: SELECT FOR UPDATE finds nothing and locks nothing.
    Absent,
}

/// Where the position is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadsFrom {
    /// In the transaction that holds the lock.
    #[default]
    Primary,
    /// From a replica, which is `[database] replica_lag` behind.
    Replica,
}

/// What one row locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocksPer {
    /// Its timer.
    #[default]
    Timer,
    /// The dispatch of all timers, as XXL-JOB's schedule_lock and Quartz's TRIGGER_ACCESS do.
    All,
}

/// Locks a row, then reads and moves the position.
pub(crate) struct SelectForUpdate(SelectForUpdateConfig);

impl SelectForUpdate {
    pub(crate) const fn new(config: SelectForUpdateConfig) -> Self {
        SelectForUpdate(config)
    }
}

impl SelectForUpdateConfig {
    /// The row that is locked for a timer.
    fn key(self, timer: &TimerId) -> Key {
        match self.per {
            LocksPer::Timer => format!("dispatch:{timer}").into(),
            LocksPer::All => "dispatch".into(),
        }
    }

    /// The row that is there from the start; `None`: it is not.
    pub(super) fn row_of(self, timer: &TimerId) -> Option<Key> {
        (self.row == LockedRow::Present).then(|| self.key(timer))
    }
}

impl Claim for SelectForUpdate {
    fn by_position(&self) -> Option<&dyn PositionClaim> {
        Some(self)
    }
}

impl PositionClaim for SelectForUpdate {
    fn lock(&self, fire: &Fire) -> Option<Statement> {
        Some(Statement::Select {
            table: LOCKS,
            key: self.0.key(&fire.timer),
            lock: RowLock::ForUpdate,
        })
    }

    fn reads_replica(&self) -> bool {
        self.0.read == ReadsFrom::Replica
    }

    /// Whoever has the lock need not look whether anything has changed, and does not.
    fn write(&self, _: &Position, fire: &Fire) -> Option<Statement> {
        let mut set = moved(fire);
        set.push((timers::OWNER, Expr::from(fire.trace_cell())));
        let never_back = Test::AtMost(timers::CURSOR, Expr::from(fire.scheduled.0));
        Some(Statement::Update {
            table: TIMERS,
            key: fire.timer.text().clone(),
            when: Condition::all([never_back]),
            set,
            required: false,
        })
    }
}
