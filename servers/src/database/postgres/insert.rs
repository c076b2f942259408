//! INSERT, with and without ON CONFLICT.

use super::super::core::Core;
use super::super::engine::Flavor;
use super::super::evaluate::Scope;
use super::super::values::fit;
use super::heap::{Mode, Tid};
use super::job::Job;
use super::predicate::Target;
use super::row_locks::{Locked, Want};
use super::transaction;
use super::unique::Arbiters;
use super::waiting::{For, has_come};
use scheduler::ports::sql::{
    Assignments, Conflict, Insert, Reply, Scalar, SqlError, TableDef, Tag, WhenLocked,
};
use scheduler::ports::{Column, Table, Value};
use std::rc::Rc;

impl Job {
    pub(super) async fn insert(&self, insert: Insert) -> Result<Reply, SqlError> {
        let definition = self.table(insert.table);
        let (arbiters, set) = match insert.conflict {
            Conflict::Nothing { target } => (Arbiters::on(&definition, target.as_deref())?, None),
            Conflict::Update { target, set } => {
                (Arbiters::on(&definition, target.as_deref())?, Some(set))
            }
            // IGNORE and REPLACE are MariaDB's.
            Conflict::Error | Conflict::Ignore | Conflict::Replace => (Arbiters::None, None),
        };
        let set = match set {
            Some(set) => Some(self.resolved_set(set).await?),
            None => None,
        };
        let mut written = Vec::new();
        for row in insert.rows {
            let given = self.resolved_all(row).await?;
            let row = self.new_row(insert.table, &definition, &insert.columns, &given)?;
            let tid = self
                .insert_row(insert.table, &definition, row, &arbiters, set.as_ref())
                .await?;
            written.extend(tid);
        }
        let returning = insert.returning;
        Ok(self.written(Tag::Insert, insert.table, &definition, &written, returning))
    }

    /// What INSERT, UPDATE and DELETE answer.
    pub(super) fn written(
        &self,
        tag: Tag,
        table: Table,
        definition: &TableDef,
        written: &[Tid],
        returning: Option<Vec<Scalar>>,
    ) -> Reply {
        let rows = returning.map(|returning| {
            written
                .iter()
                .map(|tid| self.outputs(definition, &self.row(table, *tid), &returning))
                .collect()
        });
        Reply {
            affected: Some(u64::try_from(written.len()).unwrap_or(u64::MAX)),
            rows,
            ..Reply::done(tag)
        }
    }

    /// The row, with defaults and numbers that count up. A number is used up whatever comes.
    fn new_row(
        &self,
        table: Table,
        definition: &TableDef,
        columns: &[Column],
        given: &[Scalar],
    ) -> Result<Vec<Value>, SqlError> {
        let mut core = self.handle.borrow_mut();
        let mut row = Vec::with_capacity(definition.columns.len());
        for (at, column) in definition.columns.iter().enumerate() {
            let place = columns
                .iter()
                .position(|named| usize::from(named.0) == at)
                .and_then(|place| given.get(place));
            row.push(match place {
                Some(scalar) => Scope::bare(&core, self.id).value(scalar),
                None if column.counts => {
                    let number = Column(u8::try_from(at).unwrap_or(u8::MAX));
                    let heap = core.postgres.heaps.entry(table).or_default();
                    Value::Int(heap.count_up(number))
                }
                None => column.default.clone(),
            });
        }
        drop(core);
        fitted(definition, row)
    }

    /// Inserts a row, or does what ON CONFLICT says; `None`: nothing was done.
    async fn insert_row(
        &self,
        table: Table,
        definition: &Rc<TableDef>,
        row: Vec<Value>,
        arbiters: &Arbiters,
        set: Option<&Assignments>,
    ) -> Result<Option<Tid>, SqlError> {
        loop {
            if *arbiters != Arbiters::None {
                let rival = self.arbitrate(table, definition, &row, arbiters).await?;
                match (rival, set) {
                    (None, _) => {}
                    (Some(tid), None) => {
                        self.must_see(table, tid)?;
                        return Ok(None);
                    }
                    (Some(tid), Some(set)) => {
                        match self.update_rival(table, definition, tid, &row, set).await? {
                            Some(updated) => return Ok(Some(updated)),
                            None => continue,
                        }
                    }
                }
            }
            if let Some(tid) = self.try_insert(table, definition, &row, arbiters).await? {
                return Ok(Some(tid));
            }
        }
    }

    /// `None`: somebody else has put the key there meanwhile.
    async fn try_insert(
        &self,
        table: Table,
        definition: &TableDef,
        row: &[Value],
        arbiters: &Arbiters,
    ) -> Result<Option<Tid>, SqlError> {
        self.check_write(&[Target::Table(table)])?;
        let tid = {
            let mut core = self.handle.borrow_mut();
            let xid = transaction::xid(&mut core, self.id);
            let heap = core.postgres.heaps.entry(table).or_default();
            let tid = heap.push(row.to_vec(), xid, self.cid);
            heap.versions[tid].speculative = *arbiters != Arbiters::None;
            tid
        };
        let conflicts = self.enter(table, definition, tid, arbiters).await?;
        confirm(&mut self.handle.borrow_mut(), table, tid, conflicts);
        Ok((!conflicts).then_some(tid))
    }

    /// From REPEATABLE READ on a row that the transaction cannot see is no reason to do nothing. At
    /// SERIALIZABLE the row counts as read.
    fn must_see(&self, table: Table, tid: Tid) -> Result<(), SqlError> {
        let mut core = self.handle.borrow_mut();
        let store = &core.postgres;
        let own = store
            .version(table, tid)
            .is_some_and(|version| store.xids.is_own(version.xmin, self.id));
        if self.keeps_snapshot && !self.visit(&mut core, table, tid)? && !own {
            return Err(SqlError::SerializationFailure);
        }
        if !own {
            let serializable = &mut core.postgres.serializable;
            serializable.read(self.id, Target::Version(table, tid));
        }
        Ok(())
    }

    /// DO UPDATE: changes the row that is there, seen or not; `None`: it is there no longer.
    async fn update_rival(
        &self,
        table: Table,
        definition: &Rc<TableDef>,
        tid: Tid,
        excluded: &[Value],
        set: &Assignments,
    ) -> Result<Option<Tid>, SqlError> {
        let want = Want {
            mode: Mode::Exclusive,
            when_locked: WhenLocked::Wait,
            follow: false,
            newest: false,
        };
        match self.lock(table, tid, want).await? {
            Locked::Yes { tid, .. } => {
                self.must_see(table, tid)?;
                let row = self.changed(table, definition, tid, excluded, set)?;
                self.change(table, definition, tid, row).await
            }
            // The same statement has put it there: a row cannot be affected twice.
            Locked::Invisible | Locked::ChangedBySelf => Err(SqlError::UniqueViolation),
            Locked::Updated | Locked::Deleted if self.keeps_snapshot => {
                Err(SqlError::SerializationFailure)
            }
            Locked::Updated | Locked::Deleted | Locked::Skipped => Ok(None),
        }
    }
}

/// The insert stays, or is taken back; whoever waited to know goes on.
fn confirm(core: &mut Core, table: Table, tid: Tid, conflicts: bool) {
    if let Some(version) = core.postgres.version_mut(table, tid) {
        version.speculative = false;
        version.gone = conflicts;
    }
    has_come(core, |what| what == For::Confirmation((table, tid)));
}

/// The row as its columns keep it: first whether each value is one of the column's type, then
/// whether one is missing.
pub(super) fn fitted(definition: &TableDef, row: Vec<Value>) -> Result<Vec<Value>, SqlError> {
    let mut missing = false;
    let mut fitted = Vec::with_capacity(row.len());
    for (value, column) in row.into_iter().zip(&definition.columns) {
        match fit(value, column, Flavor::Postgres, false) {
            Ok((value, _)) => fitted.push(value),
            Err(SqlError::NotNull) => {
                missing = true;
                fitted.push(Value::Null);
            }
            Err(error) => return Err(error),
        }
    }
    if missing {
        return Err(SqlError::NotNull);
    }
    Ok(fitted)
}
