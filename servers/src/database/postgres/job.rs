//! A statement at work: whose it is and what it sees.

use super::super::core::{Core, Handle};
use super::super::evaluate::Scope;
use super::super::session::SessionId;
use super::heap::{Cid, Tid};
use super::subqueries;
use super::transaction::{self, keeps_snapshot};
use super::xids::Snapshot;
use scheduler::ports::sql::{Predicate, Scalar, SqlError, TableDef};
use scheduler::ports::{Table, Value};
use std::rc::Rc;

/// What every part of a statement needs.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) handle: Handle,
    pub(super) id: SessionId,
    pub(super) snapshot: Rc<Snapshot>,
    pub(super) cid: Cid,
    /// From REPEATABLE READ on: a row that has changed since the snapshot cannot be written.
    pub(super) keeps_snapshot: bool,
}

impl Job {
    pub(super) fn begin(handle: Handle, id: SessionId) -> Job {
        let (snapshot, cid, keeps_snapshot) = {
            let mut core = handle.borrow_mut();
            let core = &mut *core;
            transaction::open(core, id);
            let snapshot = transaction::snapshot(core, id);
            let cid = core.postgres.transactions.get(&id).map_or(0, |t| t.cid);
            let keeps = keeps_snapshot(core.session(id).isolation);
            (snapshot, cid, keeps)
        };
        Job {
            handle,
            id,
            snapshot: Rc::new(snapshot),
            cid,
            keeps_snapshot,
        }
    }

    /// The definition of a table; a table that is not there has no columns.
    pub(super) fn table(&self, table: Table) -> Rc<TableDef> {
        let core = self.handle.borrow();
        Rc::new(core.tables.get(&table).cloned().unwrap_or_default())
    }

    /// The row of a version.
    pub(super) fn row(&self, table: Table, tid: Tid) -> Rc<[Value]> {
        let core = self.handle.borrow();
        let version = core.postgres.version(table, tid);
        version.map_or_else(|| Rc::from([]), |version| Rc::clone(&version.row))
    }

    /// Whether a row meets a condition without subqueries.
    pub(super) fn holds(&self, table: &TableDef, row: &[Value], filter: &Predicate) -> bool {
        let core = self.handle.borrow();
        Scope::of_row(&core, self.id, table, row).holds(filter)
    }

    /// What RETURNING or a SELECT gives of a row.
    pub(super) fn outputs(&self, table: &TableDef, row: &[Value], output: &[Scalar]) -> Vec<Value> {
        let core = self.handle.borrow();
        Scope::of_row(&core, self.id, table, row).outputs(output)
    }

    /// Whether the statement's snapshot has a version.
    pub(super) fn sees(&self, core: &Core, table: Table, tid: Tid) -> bool {
        let view = core.postgres.view(self.id);
        core.postgres
            .version(table, tid)
            .is_some_and(|version| view.sees(&self.snapshot, self.cid, version))
    }

    /// The condition with the values of its subqueries in it: they are computed once, and stay
    /// what they were even where a row is looked at again.
    pub(super) async fn resolved(&self, mut filter: Predicate) -> Result<Predicate, SqlError> {
        let mut values = Vec::new();
        for select in subqueries::of_predicate(&mut filter) {
            values.push(self.first_value(select).await?);
        }
        subqueries::fill_predicate(&mut filter, values);
        Ok(filter)
    }

    /// Values with those of their subqueries in them.
    pub(super) async fn resolved_all(
        &self,
        mut scalars: Vec<Scalar>,
    ) -> Result<Vec<Scalar>, SqlError> {
        for scalar in &mut scalars {
            let mut values = Vec::new();
            for select in subqueries::of_scalar(scalar) {
                values.push(self.first_value(select).await?);
            }
            subqueries::fill_scalar(scalar, values);
        }
        Ok(scalars)
    }

    async fn first_value(&self, select: scheduler::ports::sql::Select) -> Result<Value, SqlError> {
        // A subquery may have a subquery.
        let rows = Box::pin(self.select(select)).await?;
        let first = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next());
        Ok(first.unwrap_or_default())
    }
}
