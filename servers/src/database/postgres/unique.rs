//! Unique indexes, and entering a row into indexes.

use super::super::core::Core;
use super::heap::Tid;
use super::job::Job;
use super::predicate::Target;
use super::scan::key;
use super::visibility::Dirty;
use super::waiting;
use super::xids::Xid;
use crate::broken::{self, Broken};
use scheduler::ports::sql::{IndexDef, SqlError, TableDef};
use scheduler::ports::{Column, Table, Value};

/// What stands in the way of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    Nobody,
    /// A row that is there.
    Row(Tid),
    /// Somebody whose end decides.
    Running(Xid),
    /// An INSERT ... ON CONFLICT that may still take this back.
    Unconfirmed(Tid),
}

/// Which indexes ON CONFLICT is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arbiters {
    /// It is no INSERT ... ON CONFLICT.
    None,
    /// Any unique index.
    All,
    /// This one.
    One(usize),
}

impl Arbiters {
    /// The index that has these columns, and no others.
    pub(super) fn on(definition: &TableDef, target: Option<&[Column]>) -> Result<Self, SqlError> {
        let Some(target) = target else {
            return Ok(Arbiters::All);
        };
        let has = |index: &IndexDef| {
            index.unique
                && index.columns.iter().all(|column| target.contains(column))
                && target.iter().all(|column| index.columns.contains(column))
        };
        let place = definition.indexes.iter().position(has);
        place.map(Arbiters::One).ok_or(SqlError::NoSuchConstraint)
    }

    fn has(&self, index: usize) -> bool {
        match self {
            Arbiters::None => false,
            Arbiters::All => true,
            Arbiters::One(one) => *one == index,
        }
    }
}

impl Job {
    /// Enters a version into every index of its table, waiting for whoever has its key. True where
    /// an arbiter has the key after all: the version has to be taken back.
    pub(super) async fn enter(
        &self,
        table: Table,
        definition: &TableDef,
        tid: Tid,
        arbiters: &Arbiters,
    ) -> Result<bool, SqlError> {
        let row = self.row(table, tid);
        let mut conflicts = false;
        for (number, index) in definition.indexes.iter().enumerate() {
            if index.unique {
                let rival = self
                    .rival(table, definition, number, &row, Some(tid))
                    .await?;
                let arbitrated = arbiters.has(number);
                if rival.is_some() && !arbitrated {
                    // A reader of this key that comes before is the better reason to fail.
                    self.check_write(&[Target::Index(table, number)])?;
                    return Err(SqlError::UniqueViolation);
                }
                conflicts |= rival.is_some();
            }
            self.check_write(&[Target::Index(table, number)])?;
            let mut core = self.handle.borrow_mut();
            if let Some(version) = core.postgres.version_mut(table, tid) {
                version.entered = number + 1;
            }
        }
        let mut core = self.handle.borrow_mut();
        if let Some(version) = core.postgres.version_mut(table, tid) {
            version.entered = usize::MAX;
        }
        Ok(conflicts)
    }

    /// The row in the way of ON CONFLICT, once everybody is done who might put one there or take it
    /// away.
    pub(super) async fn arbitrate(
        &self,
        table: Table,
        definition: &TableDef,
        row: &[Value],
        arbiters: &Arbiters,
    ) -> Result<Option<Tid>, SqlError> {
        for (number, index) in definition.indexes.iter().enumerate() {
            if index.unique && arbiters.has(number) {
                let rival = self.rival(table, definition, number, row, None).await?;
                if rival.is_some() {
                    return Ok(rival);
                }
            }
        }
        Ok(None)
    }

    /// The row that has the key, after waiting for whoever might have it or give it up.
    async fn rival(
        &self,
        table: Table,
        definition: &TableDef,
        index: usize,
        row: &[Value],
        own: Option<Tid>,
    ) -> Result<Option<Tid>, SqlError> {
        loop {
            let rival = self.look_for(&self.handle.borrow(), table, definition, index, row, own);
            match rival {
                Rival::Nobody => return Ok(None),
                Rival::Row(tid) => return Ok(Some(tid)),
                Rival::Running(_) if broken::is(Broken::PostgresNoWaitOnKey) => return Ok(None),
                Rival::Running(xid) => waiting::end_of(&self.handle, self.id, xid).await?,
                Rival::Unconfirmed(tid) => {
                    waiting::confirmation(&self.handle, self.id, (table, tid)).await?;
                }
            }
        }
    }

    fn look_for(
        &self,
        core: &Core,
        table: Table,
        definition: &TableDef,
        index: usize,
        row: &[Value],
        own: Option<Tid>,
    ) -> Rival {
        let store = &core.postgres;
        let (Some(with), Some(heap)) = (definition.indexes.get(index), store.heaps.get(&table))
        else {
            return Rival::Nobody;
        };
        let wanted = key(definition, with, row);
        if !with.nulls_equal && wanted.contains(&Value::Null) {
            return Rival::Nobody;
        }
        let view = store.view(self.id);
        for entry in store.entries(table, index) {
            if Some(entry) == own || key(definition, with, &heap.versions[entry].row) != wanted {
                continue;
            }
            for tid in view.chain(heap, entry) {
                let version = &heap.versions[tid];
                match view.dirty(version) {
                    Dirty::Dead => {}
                    Dirty::Live => return Rival::Row(tid),
                    Dirty::Arriving(_) if version.speculative => return Rival::Unconfirmed(tid),
                    Dirty::Arriving(xid) | Dirty::Leaving(xid) => return Rival::Running(xid),
                }
            }
        }
        Rival::Nobody
    }

    /// Before writing: whoever has read there comes first.
    pub(super) fn check_write(&self, targets: &[Target]) -> Result<(), SqlError> {
        let store = &mut self.handle.borrow_mut().postgres;
        let transaction = store.transactions.get(&self.id);
        let forgets = transaction.is_none_or(|transaction| !transaction.has_savepoint());
        store.serializable.check_write(self.id, targets, forgets)
    }
}
