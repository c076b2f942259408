//! The claim by a unique runKey: whoever inserts it first dispatches the slot.
//!
//! Promises that a slot becomes one run, whatever the clocks say, because runKey holds the planned
//! time and not the time of firing. Breaks only where the runKey itself is wrong. Source: S0.12.

use super::{Claim, Fire};
use crate::guards::state_number;
use crate::ports::{Expr, OnConflict, Statement, Statements, Table, Value};
use crate::tables;
use evidence::RecordState;

/// Inserts the runKey.
pub(crate) struct UniqueRunKey {
    table: Table,
}

impl UniqueRunKey {
    /// The unique index lives in this table.
    pub(crate) fn new(table: Table) -> Self {
        UniqueRunKey { table }
    }
}

impl Claim for UniqueRunKey {
    fn statements(&self, fire: &Fire, _creates_record: bool) -> Statements {
        // What goes with the claim comes into the same transaction: an outbox row and a position.
        let mut statements = Statements::with_capacity(3);
        statements.push(insert_run(self.table, fire, OnConflict::Abort));
        statements
    }

    fn table(&self) -> Option<Table> {
        Some(self.table)
    }
}

/// The row of a run that nobody has been told of yet.
pub(crate) fn insert_run(table: Table, fire: &Fire, on_conflict: OnConflict) -> Statement {
    debug_assert!(table == tables::RUNS || table == tables::CLAIMS);
    Statement::Insert {
        table,
        key: fire.run.text().clone(),
        cells: vec![
            Expr::from(state_number(RecordState::Created)),
            Expr::from(0),
            Expr::from(0),
            Expr::Now { plus_ms: 0 },
            Expr::from(fire.trace_cell()),
            Expr::Value(Value::Text(fire.run.text().clone())),
        ],
        on_conflict,
    }
}
