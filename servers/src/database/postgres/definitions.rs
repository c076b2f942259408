//! Tables and indexes; what of a table is committed.

use super::super::core::Core;
use super::super::session::SessionId;
use super::heap::Heap;
use super::job::Job;
use super::scan::key;
use super::{transaction, visibility::Dirty};
use scheduler::ports::sql::{IndexDef, Reply, SqlError, TableDef, Tag};
use scheduler::ports::{Table, Value};
use std::collections::BTreeSet;

impl Job {
    /// CREATE TABLE; undone with its transaction.
    pub(super) fn create_table(&self, table: Table, mut definition: TableDef) -> Reply {
        let mut core = self.handle.borrow_mut();
        transaction::remember(&mut core, self.id, table);
        // PostgreSQL makes the primary key's index first, wherever it is named.
        definition.indexes.sort_by_key(|index| !index.primary);
        core.tables.insert(table, definition);
        core.postgres.heaps.insert(table, Heap::default());
        Reply::done(Tag::CreateTable)
    }

    /// CREATE INDEX; undone with its transaction.
    pub(super) fn create_index(&self, table: Table, index: IndexDef) -> Result<Reply, SqlError> {
        let mut core = self.handle.borrow_mut();
        transaction::remember(&mut core, self.id, table);
        let definition = core.tables.get(&table).cloned().unwrap_or_default();
        if index.unique && has_duplicates(&core, self.id, table, &definition, &index) {
            return Err(SqlError::UniqueViolation);
        }
        if let Some(definition) = core.tables.get_mut(&table) {
            definition.indexes.push(index);
        }
        Ok(Reply::done(Tag::CreateIndex))
    }
}

fn has_duplicates(
    core: &Core,
    id: SessionId,
    table: Table,
    definition: &TableDef,
    index: &IndexDef,
) -> bool {
    let view = core.postgres.view(id);
    let mut keys = BTreeSet::new();
    let heap = core.postgres.heaps.get(&table);
    heap.is_some_and(|heap| {
        heap.versions
            .iter()
            .filter(|version| view.dirty(version) == Dirty::Live)
            .map(|version| key(definition, index, &version.row))
            .filter(|key| index.nulls_equal || !key.contains(&Value::Null))
            .any(|key| !keys.insert(key))
    })
}

/// The rows that are committed, by primary key, or as they lie where there is none.
pub(super) fn committed(core: &Core, table: Table) -> Vec<Vec<Value>> {
    let store = &core.postgres;
    let (Some(heap), Some(definition)) = (store.heaps.get(&table), core.tables.get(&table)) else {
        return Vec::new();
    };
    let mut rows: Vec<Vec<Value>> = heap
        .versions
        .iter()
        .filter(|version| !version.gone && store.xids.has_committed(version.xmin))
        .filter(|version| {
            let ended = |xid| store.xids.has_committed(xid);
            !version
                .claims
                .iter()
                .any(|claim| claim.writes && ended(claim.xid))
        })
        .map(|version| version.row.to_vec())
        .collect();
    if let Some(primary) = definition.indexes.iter().find(|index| index.primary) {
        rows.sort_by_key(|row| key(definition, primary, row));
    }
    rows
}
