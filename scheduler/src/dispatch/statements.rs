//! What dispatch writes into the database.

use super::Fire;
use crate::guards::state_number;
use crate::ports::{Column, Condition, Expr, Key, OnConflict, Statement, Statements, Test, Value};
use crate::tables::{OUTBOX, RUNS, TIMERS, outbox, runs, timers};
use evidence::RecordState;

/// The timer's position moves to this slot, never back.
pub(super) fn advance(fire: &Fire) -> Statement {
    let at = Expr::from(fire.scheduled.0);
    Statement::Update {
        table: TIMERS,
        key: fire.timer.text().clone(),
        when: Condition::all([Test::AtMost(timers::CURSOR, at)]),
        set: moved(fire),
        required: false,
    }
}

/// The position, and where the row says so the next slot, once this slot is dispatched.
pub(super) fn moved(fire: &Fire) -> Vec<(Column, Expr)> {
    let mut set = vec![(timers::CURSOR, Expr::from(fire.scheduled.0))];
    set.extend(fire.next.map(|next| (timers::NEXT, Expr::from(next))));
    set
}

/// The record CREATED becomes QUEUED.
pub(super) fn queued(key: &Key) -> Statement {
    Statement::Update {
        table: RUNS,
        key: key.clone(),
        when: Condition::all([Test::Is(runs::STATE, state_number(RecordState::Created))]),
        set: vec![
            (runs::STATE, Expr::from(state_number(RecordState::Queued))),
            (runs::UNTIL, Expr::Now { plus_ms: 0 }),
        ],
        required: false,
    }
}

/// The outbox row is sent, and its run QUEUED.
pub(super) fn mark(key: &Key, record: Option<&Key>) -> Statements {
    let mut statements = Statements::with_capacity(2);
    statements.push(Statement::Update {
        table: OUTBOX,
        key: key.clone(),
        when: Condition::always(),
        set: vec![(outbox::SENT, Expr::from(1))],
        required: false,
    });
    statements.extend(record.map(queued));
    statements
}

/// The row that waits to be published; `unique`: nobody else may have made it.
pub(super) fn insert_outbox(fire: &Fire, key: &Key, unique: bool) -> Statement {
    Statement::Insert {
        table: OUTBOX,
        key: key.clone(),
        cells: vec![
            Expr::from(0),
            Expr::from(fire.trace_cell()),
            Expr::Value(Value::Text(fire.run.text().clone())),
            Expr::Now { plus_ms: 0 },
        ],
        on_conflict: if unique {
            OnConflict::Abort
        } else {
            OnConflict::Ignore
        },
    }
}
