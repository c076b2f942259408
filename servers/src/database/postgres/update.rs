//! UPDATE and DELETE.

use super::super::evaluate::Scope;
use super::heap::{Claim, Mode, Tid, changes_an_index};
use super::insert::fitted;
use super::job::Job;
use super::plan::plan;
use super::predicate::{Target, page};
use super::row_locks::{Locked, Want};
use super::unique::Arbiters;
use super::visibility::Verdict;
use super::{transaction, waiting};
use crate::broken::{self, Broken};
use scheduler::ports::sql::{
    Assignments, Delete, Predicate, Reply, Scalar, SqlError, TableDef, Tag, Update, WhenLocked,
};
use scheduler::ports::{Table, Value};
use std::rc::Rc;

/// What is done to each row that is found.
#[derive(Clone, Debug)]
enum Change {
    Set(Assignments),
    Remove,
}

impl Job {
    pub(super) async fn update(&self, update: Update) -> Result<Reply, SqlError> {
        let definition = self.table(update.table);
        let filter = self.resolved(update.filter).await?;
        let change = Change::Set(self.resolved_set(update.set).await?);
        let written = self
            .change_all(update.table, &definition, &filter, &change)
            .await?;
        Ok(self.written(
            Tag::Update,
            update.table,
            &definition,
            &written,
            update.returning,
        ))
    }

    pub(super) async fn delete(&self, delete: Delete) -> Result<Reply, SqlError> {
        let definition = self.table(delete.table);
        let filter = self.resolved(delete.filter).await?;
        let written = self
            .change_all(delete.table, &definition, &filter, &Change::Remove)
            .await?;
        Ok(self.written(
            Tag::Delete,
            delete.table,
            &definition,
            &written,
            delete.returning,
        ))
    }

    pub(super) async fn resolved_set(&self, set: Assignments) -> Result<Assignments, SqlError> {
        let (columns, scalars): (Vec<_>, Vec<Scalar>) = set.into_iter().unzip();
        let scalars = self.resolved_all(scalars).await?;
        Ok(columns.into_iter().zip(scalars).collect())
    }

    /// Changes every row that meets the condition, one after the other.
    async fn change_all(
        &self,
        table: Table,
        definition: &Rc<TableDef>,
        filter: &Predicate,
        change: &Change,
    ) -> Result<Vec<Tid>, SqlError> {
        let plan = plan(definition, filter, &[], None);
        let mut scan = self.scan(table, definition, filter, &plan.way)?;
        let mut written = Vec::new();
        while let Some(tid) = self.next(&mut scan)? {
            if self.holds(definition, &self.row(table, tid), filter) {
                written.extend(
                    self.change_row(table, definition, filter, change, tid)
                        .await?,
                );
            }
        }
        Ok(written)
    }

    /// Changes a row, or its newest version if that still meets the condition; `None`: it does not,
    /// or the row is gone.
    async fn change_row(
        &self,
        table: Table,
        definition: &Rc<TableDef>,
        filter: &Predicate,
        change: &Change,
        tid: Tid,
    ) -> Result<Option<Tid>, SqlError> {
        let mut at = tid;
        loop {
            let done = match change {
                Change::Set(set) => {
                    let row = self.changed(table, definition, at, &[], set)?;
                    self.change_or_tell(table, definition, at, row).await?
                }
                Change::Remove => self.remove(table, at).await?,
            };
            match done {
                Ok(written) => return Ok(Some(written)),
                Err(Verdict::Updated | Verdict::Deleted) if self.keeps_snapshot => {
                    return Err(SqlError::SerializationFailure);
                }
                Err(Verdict::Updated) => {}
                Err(_) => return Ok(None),
            }
            // Whoever was next in the queue goes on at the same moment.
            waiting::overtaken(&self.handle, self.id).await;
            let want = Want {
                mode: Mode::Exclusive,
                when_locked: WhenLocked::Wait,
                follow: false,
                newest: true,
            };
            let Locked::Yes { tid: newest, .. } = self.lock(table, at, want).await? else {
                return Ok(None);
            };
            let meets = broken::is(Broken::PostgresNoRecheck)
                || self.holds(definition, &self.row(table, newest), filter);
            if !meets {
                return Ok(None);
            }
            at = newest;
        }
    }

    /// The row as the assignments make it.
    pub(super) fn changed(
        &self,
        table: Table,
        definition: &TableDef,
        tid: Tid,
        excluded: &[Value],
        set: &Assignments,
    ) -> Result<Vec<Value>, SqlError> {
        let old = self.row(table, tid);
        let mut row = old.to_vec();
        let core = self.handle.borrow();
        let scope = Scope {
            excluded,
            ..Scope::of_row(&core, self.id, definition, &old)
        };
        for (column, scalar) in set {
            if let Some(cell) = row.get_mut(usize::from(column.0)) {
                *cell = scope.value(scalar);
            }
        }
        fitted(definition, row)
    }

    /// Writes the new version of a row that nobody else can be changing.
    pub(super) async fn change(
        &self,
        table: Table,
        definition: &Rc<TableDef>,
        tid: Tid,
        row: Vec<Value>,
    ) -> Result<Option<Tid>, SqlError> {
        let done = self.change_or_tell(table, definition, tid, row).await?;
        Ok(done.ok())
    }

    /// Writes the new version of a row, or says what stands in the way.
    async fn change_or_tell(
        &self,
        table: Table,
        definition: &TableDef,
        tid: Tid,
        row: Vec<Value>,
    ) -> Result<Result<Tid, Verdict>, SqlError> {
        let verdict = self.prepare_change((table, tid)).await?;
        if verdict != Verdict::Free {
            return Ok(Err(verdict));
        }
        self.check_row(table, tid)?;
        let changes_an_index = changes_an_index(definition, &self.row(table, tid), &row);
        let new = self.write(table, tid, Some((row, changes_an_index)));
        if changes_an_index {
            self.enter(table, definition, new, &Arbiters::None).await?;
        }
        Ok(Ok(new))
    }

    async fn remove(&self, table: Table, tid: Tid) -> Result<Result<Tid, Verdict>, SqlError> {
        let verdict = self.prepare_change((table, tid)).await?;
        if verdict != Verdict::Free {
            return Ok(Err(verdict));
        }
        self.check_row(table, tid)?;
        Ok(Ok(self.write(table, tid, None)))
    }

    fn check_row(&self, table: Table, tid: Tid) -> Result<(), SqlError> {
        self.check_write(&[
            Target::Version(table, tid),
            Target::Page(table, page(tid)),
            Target::Table(table),
        ])
    }

    /// Marks a version as changed (`row`: the new one, and whether it needs index entries) or
    /// removed; gives the new version, or the one that was removed.
    fn write(&self, table: Table, tid: Tid, row: Option<(Vec<Value>, bool)>) -> Tid {
        let mut core = self.handle.borrow_mut();
        let core = &mut *core;
        let xid = transaction::xid(core, self.id);
        let claim = Claim {
            xid,
            mode: Mode::Exclusive,
            writes: true,
        };
        core.postgres.add_claim(self.id, (table, tid), claim);
        let heap = core.postgres.heaps.entry(table).or_default();
        let next = row.map(|(row, needs_entries)| {
            let next = heap.push(row, xid, self.cid);
            heap.versions[next].heap_only = !needs_entries;
            next
        });
        let version = &mut heap.versions[tid];
        version.cmax = self.cid;
        version.next = next;
        waiting::done_with(core, self.id, (table, tid));
        next.unwrap_or(tid)
    }
}
