//! A run's row in the table of runs, as the guards that keep a record write and read it.

use super::{Entry, Visit, state_number, state_of};
use crate::marks;
use crate::ports::{
    Answers, At, Column, Condition, Expr, Key, OnConflict, Ports, Row, RowLock, Statement, Value,
};
use crate::tables::{RUNS, runs};
use evidence::{Ids, RecordState, Step, What};

/// New values of a row.
pub(super) type Change = Vec<(Column, Expr)>;

/// "This is the state now."
pub(super) fn state(state: RecordState) -> (Column, Expr) {
    (runs::STATE, Expr::from(state_number(state)))
}

/// The run's first row.
pub(super) fn insert(
    visit: &Visit<'_>,
    state: RecordState,
    until: Expr,
    on_conflict: OnConflict,
) -> Statement {
    let text = match &visit.ids.run {
        Some(run) => Value::Text(run.text().clone()),
        None => Value::Null,
    };
    let trace = visit.ids.trace.map_or(0, |trace| trace.0 as i64);
    let cells = vec![
        Expr::from(state_number(state)),
        Expr::from(1),
        Expr::from(visit.token as i64),
        until,
        Expr::from(trace),
        Expr::Value(text),
    ];
    Statement::Insert {
        table: RUNS,
        key: visit.key.clone(),
        cells,
        on_conflict,
    }
}

/// Changes the run's row where the condition holds.
pub(super) fn update(key: &Key, when: Condition, set: Change) -> Statement {
    Statement::Update {
        table: RUNS,
        key: key.clone(),
        when,
        set,
        required: false,
    }
}

/// Reads the run's row.
pub(super) fn select(key: &Key, lock: RowLock) -> Statement {
    Statement::Select {
        table: RUNS,
        key: key.clone(),
        lock,
    }
}

/// What a guard answers that skips every run whose row it finds, whatever the row says.
pub(super) fn found(
    ports: &Ports,
    step: &'static Step,
    visit: &Visit<'_>,
    record: Record,
) -> Entry {
    let (entry, what) = match record.state {
        Some(RecordState::Succeeded) => (Entry::Done, What::SkippedDone),
        _ => (Entry::Taken, What::SkippedTaken),
    };
    tell(ports, step, visit.ids, what);
    ports.journal.mark(&marks::ROW_FOUND);
    entry
}

/// What a guard reads from the run's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Its state; `None`: a number that no version of this code has written.
    pub state: Option<RecordState>,
    /// Attempts begun so far.
    pub attempt: u32,
    /// Token of the attempt that wrote it last.
    pub owner: u64,
    /// What `UNTIL` says, ms.
    pub until: i64,
}

impl Record {
    /// The row that the last statement has read, if there is one.
    pub(super) fn of(answers: &Answers) -> Option<Record> {
        let row: &Row = answers.last()?.rows().first()?;
        let cell = |column: Column| row.cells.get(usize::from(column.0)).map_or(0, Value::int);
        Some(Record {
            state: state_of(cell(runs::STATE)),
            attempt: u32::try_from(cell(runs::ATTEMPT)).unwrap_or(0),
            owner: cell(runs::OWNER) as u64,
            until: cell(runs::UNTIL),
        })
    }
}

/// Tells the journal.
pub(super) fn tell(ports: &Ports, step: &'static Step, ids: &Ids, what: What) {
    ports.journal.record(At::new(step, ids), what);
}
