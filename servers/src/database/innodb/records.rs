//! Indexes as InnoDB keeps them: records in the order of their keys, delete-marked ones included.

use super::super::values::collated;
use super::transaction::TrxId;
use scheduler::ports::sql::{ColumnDef, IndexDef, TableDef};
use scheduler::ports::{Column, Table, Value};
use std::collections::BTreeMap;
use std::ops::Bound;

/// The values by which a record is found, folded as their collations say. In a secondary index the
/// primary key comes behind the index's own columns.
pub(super) type Key = Vec<Value>;

/// The values of a row.
pub(super) type Row = Vec<Value>;

/// A record's place on its page: what a lock is on. A record that is removed takes its number with
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Heap(pub(super) u64);

/// The end of an index: where the gap behind the last record is locked.
pub(super) const SUPREMUM: Heap = Heap(0);

/// An index: 0 is the clustered one, that holds the rows; then the secondary ones in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndexId {
    pub(super) table: Table,
    pub(super) number: usize,
}

impl IndexId {
    pub(super) const fn clustered(table: Table) -> Self {
        IndexId { table, number: 0 }
    }

    pub(super) const fn is_clustered(self) -> bool {
        self.number == 0
    }
}

/// What a row was from one write to the next.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) row: Row,
    /// Delete-marked: the row is gone, its record is not.
    pub(super) deleted: bool,
    pub(super) writer: TrxId,
    /// The number of the writer's commit; `None` while it is active.
    pub(super) commit: Option<u64>,
}

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) heap: Heap,
    /// Of a secondary entry; a clustered record is marked where its newest version is.
    pub(super) marked: bool,
    /// Who inserted, marked or unmarked a secondary entry last: while it is active it holds an
    /// exclusive lock on it that is written nowhere.
    pub(super) writer: TrxId,
    /// Of a clustered record, oldest first.
    pub(super) versions: Vec<Version>,
}

impl Record {
    pub(super) fn is_deleted(&self) -> bool {
        self.versions
            .last()
            .map_or(self.marked, |last| last.deleted)
    }

    pub(super) fn last_writer(&self) -> TrxId {
        self.versions.last().map_or(self.writer, |last| last.writer)
    }
}

/// An index's definition and records.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Its own columns; of the clustered index: the primary key, none where the server numbers the
    /// rows itself.
    pub(super) columns: Vec<Column>,
    pub(super) unique: bool,
    pub(super) records: BTreeMap<Key, Record>,
    /// The youngest transaction that has changed an entry (`PAGE_MAX_TRX_ID`).
    pub(super) youngest_writer: u64,
}

impl Index {
    fn of(def: &IndexDef) -> Self {
        Index {
            columns: def.columns.clone(),
            unique: def.unique || def.primary,
            records: BTreeMap::new(),
            youngest_writer: 0,
        }
    }

    /// The first record whose key is not before `from` (or behind it).
    pub(super) fn first(&self, from: Bound<&Key>) -> Option<(&Key, &Record)> {
        self.records
            .range::<Key, _>((from, Bound::Unbounded))
            .next()
    }

    /// The last record whose key is before `to`.
    pub(super) fn last(&self, to: Bound<&Key>) -> Option<(&Key, &Record)> {
        self.records
            .range::<Key, _>((Bound::Unbounded, to))
            .next_back()
    }

    /// The record behind a key, or the end of the index: whose gap the key is in.
    pub(super) fn successor(&self, key: &Key) -> Heap {
        self.first(Bound::Excluded(key))
            .map_or(SUPREMUM, |(_, record)| record.heap)
    }
}

/// A table's rows.
#[derive(Debug, Default)]
pub(super) struct TableStore {
    pub(super) columns: Vec<ColumnDef>,
    pub(super) indexes: Vec<Index>,
    /// The next number for a column that counts, and for a row without a primary key.
    pub(super) next_number: i64,
}

impl TableStore {
    pub(super) fn new(def: &TableDef) -> Self {
        let primary = def.indexes.iter().find(|index| index.primary);
        let mut indexes = vec![primary.map(Index::of).unwrap_or_default()];
        // Unique indexes are looked at before the others (MariaDB sorts its keys so).
        let secondary = def.indexes.iter().filter(|index| !index.primary);
        let (unique, other): (Vec<_>, Vec<_>) = secondary.partition(|index| index.unique);
        indexes.extend(unique.into_iter().chain(other).map(Index::of));
        TableStore {
            columns: def.columns.clone(),
            indexes,
            next_number: 1,
        }
    }

    /// The key of a row in an index. `primary`: its key in the clustered index.
    pub(super) fn key(&self, number: usize, row: &Row, primary: &Key) -> Key {
        let mut key = self.own_key(number, row);
        if number > 0 {
            key.extend(primary.iter().cloned());
        }
        key
    }

    /// The values of an index's own columns.
    pub(super) fn own_key(&self, number: usize, row: &Row) -> Key {
        self.indexes[number]
            .columns
            .iter()
            .map(|column| self.folded(*column, &row[usize::from(column.0)]))
            .collect()
    }

    /// A value as an index keeps it.
    pub(super) fn folded(&self, column: Column, value: &Value) -> Value {
        match self.columns.get(usize::from(column.0)) {
            Some(def) => collated(value, def.kind),
            None => value.clone(),
        }
    }

    /// The clustered key of the row behind an entry.
    pub(super) fn primary_of(&self, number: usize, key: &Key) -> Key {
        match number {
            0 => key.clone(),
            _ => key[self.indexes[number].columns.len()..].to_vec(),
        }
    }

    /// Whether a row has its entry in an index.
    pub(super) fn has_entry(&self, number: usize, row: &Row, primary: &Key) -> bool {
        let key = match number {
            0 => return true,
            _ => self.key(number, row, primary),
        };
        let entry = self.indexes[number].records.get(&key);
        entry.is_some_and(|entry| !entry.marked)
    }

    pub(super) fn has_primary_key(&self) -> bool {
        !self.indexes[0].columns.is_empty()
    }
}
