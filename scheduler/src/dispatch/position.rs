//! Claims of the timer's own row: they read its position, and write it.
//!
//! What they have in common is here and in [`super::by_position`]; how each of them tells that
//! nobody else was there meanwhile is its own business.

use super::Fire;
use crate::Span;
use crate::ports::{Cells, Column, Expr, Key, OnConflict, Row, RowLock, Statement, Value};
use crate::tables::{LOCKS, TIMERS, timers};

/// How a claim reads and writes the timer's row.
pub(crate) trait PositionClaim: Send + Sync {
    /// What is locked before the position is read, until the end of the transaction.
    fn lock(&self, fire: &Fire) -> Option<Statement> {
        let _ = fire;
        None
    }

    /// Whether the position is read in a connection of its own, which may lead to a replica.
    fn reads_replica(&self) -> bool {
        false
    }

    /// The write that claims the slot, for the row as it was read; `None`: another holds it. If it
    /// is required and changes nothing, somebody else was quicker.
    fn write(&self, seen: &Position, fire: &Fire) -> Option<Statement>;

    /// Whether this claim of ours holds the row (the position has not moved yet).
    fn holds(&self, seen: &Position, fire: &Fire) -> bool {
        let _ = (seen, fire);
        false
    }

    /// What gives the row back with its position moved, where the claim only holds it; required.
    fn let_go(&self, fire: &Fire) -> Option<Statement> {
        let _ = fire;
        None
    }

    /// How long another may hold the row before it is worth looking again; `None`: for ever.
    fn look_again(&self) -> Option<Span> {
        None
    }
}

/// A timer's row as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Position {
    /// scheduledTime of the last slot that was dispatched, ms.
    pub(crate) cursor: i64,
    pub(crate) version: i64,
    pub(crate) acquired: bool,
    /// Trace of the run that was claimed last.
    pub(crate) owner: i64,
    /// scheduledTime of the next slot, where workers poll the rows, ms.
    pub(crate) next: i64,
}

impl Position {
    /// What a row says; columns that it does not have are 0.
    pub(crate) fn of(row: &Row) -> Self {
        let number = |column: Column| number(&row.cells, column);
        Position {
            cursor: number(timers::CURSOR),
            version: number(timers::VERSION),
            acquired: number(timers::STATE) == ACQUIRED,
            owner: number(timers::OWNER),
            next: number(timers::NEXT),
        }
    }
}

fn number(cells: &Cells, column: Column) -> i64 {
    let cell = cells.get(usize::from(column.0));
    cell.map_or(0, Value::int)
}

/// The row waits for its next slot.
pub(crate) const WAITING: i64 = 0;
/// The row is in somebody's hands.
pub(crate) const ACQUIRED: i64 = 1;

/// Reads the row of a fire's timer.
pub(super) fn read(fire: &Fire) -> Statement {
    Statement::Select {
        table: TIMERS,
        key: fire.timer.text().clone(),
        lock: RowLock::None,
    }
}

/// The row as it is when nobody has claimed anything: `cursor` is where the timer's time begins,
/// `next` its first slot.
pub(super) fn unclaimed(cursor: i64, next: i64) -> Vec<Expr> {
    let mut cells = vec![Expr::from(0); timers::ALL];
    cells[usize::from(timers::CURSOR.0)] = Expr::from(cursor);
    cells[usize::from(timers::NEXT.0)] = Expr::from(next);
    cells
}

/// A row of the table of locks that somebody put there once, before anything was dispatched.
pub(super) fn seeded(key: Key) -> Statement {
    Statement::Insert {
        table: LOCKS,
        key,
        cells: vec![Expr::from(i64::MIN), Expr::from(0), Expr::from(0)],
        on_conflict: OnConflict::Ignore,
    }
}

/// Whether a write that changes nothing means that somebody else was quicker.
pub(super) const fn is_required(write: &Statement) -> bool {
    matches!(write, Statement::Update { required: true, .. })
}
