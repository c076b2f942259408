//! What a crash takes: transactions that were open, and commits that were not on disk yet.

use super::Store;
use super::records::{IndexId, Key, Record, Row, TableStore, Version};
use super::transaction::{TrxId, Undo};
use super::versions::committed_row;
use crate::Ms;
use scheduler::ports::Table;
use scheduler::ports::sql::TableDef;
use std::collections::BTreeSet;

/// How often the log is written where a commit does not wait for it
/// (`innodb_flush_log_at_timeout`).
const FLUSH_EVERY: Ms = 1_000;

/// A commit that is not on disk: what the rows were before it.
#[derive(Debug)]
pub(super) struct Unflushed {
    at: Ms,
    before: Vec<(Table, Key, Option<Row>)>,
}

impl Store {
    /// A commit is written to disk at once, with all that were before it; or some time later.
    pub(super) fn note_for_disk(&mut self, undo: &[Undo], _: TrxId, now: Ms, durable: bool) {
        if durable {
            self.unflushed.clear();
            return;
        }
        let mut touched = BTreeSet::new();
        for undo in undo {
            if let Undo::Version { table, key } = undo {
                touched.insert((*table, key.clone()));
            }
        }
        let before = touched
            .into_iter()
            .map(|(table, key)| {
                let record = self.index(IndexId::clustered(table)).records.get(&key);
                let row = record.and_then(committed_row).cloned();
                (table, key, row)
            })
            .collect();
        self.unflushed.push(Unflushed { at: now, before });
    }

    /// Starts again with what is on disk.
    pub(super) fn restart(&mut self, now: Ms) {
        let lost = std::mem::take(&mut self.unflushed);
        let tables: Vec<Table> = self.tables.keys().copied().collect();
        for table in tables {
            let mut rows: Vec<(Key, Row)> = self.tables[&table].indexes[0]
                .records
                .iter()
                .filter_map(|(key, record)| Some((key.clone(), committed_row(record)?.clone())))
                .collect();
            let young = |commit: &&Unflushed| commit.at + FLUSH_EVERY > now;
            for commit in lost.iter().filter(young).rev() {
                for (_, key, before) in commit.before.iter().filter(|(of, ..)| *of == table) {
                    rows.retain(|(other, _)| other != key);
                    rows.extend(before.clone().map(|row| (key.clone(), row)));
                }
            }
            self.rebuild(table, rows);
        }
        self.trxs.clear();
        self.locks = Default::default();
        self.garbage.clear();
        self.woken.clear();
    }

    /// A table has another index: all its indexes are built anew from the rows.
    pub(super) fn redefine(&mut self, table: Table, def: &TableDef) {
        let rows: Vec<(Key, Row)> = match self.tables.get(&table) {
            Some(store) => store.indexes[0]
                .records
                .iter()
                .filter_map(|(key, record)| Some((key.clone(), committed_row(record)?.clone())))
                .collect(),
            None => return,
        };
        let next_number = self.tables[&table].next_number;
        let store = TableStore {
            next_number,
            ..TableStore::new(def)
        };
        self.tables.insert(table, store);
        self.rebuild(table, rows);
    }

    fn rebuild(&mut self, table: Table, rows: Vec<(Key, Row)>) {
        let Some(mut store) = self.tables.remove(&table) else {
            return;
        };
        for index in &mut store.indexes {
            index.records.clear();
        }
        for (key, row) in rows {
            self.restore(&mut store, key, row);
        }
        self.tables.insert(table, store);
    }

    fn restore(&mut self, store: &mut TableStore, primary: Key, row: Row) {
        let writer = TrxId::default();
        for number in 0..store.indexes.len() {
            let key = match number {
                0 => primary.clone(),
                _ => store.key(number, &row, &primary),
            };
            let version = Version {
                row: row.clone(),
                deleted: false,
                writer,
                commit: Some(self.commits),
            };
            let record = Record {
                heap: super::records::Heap(self.fresh()),
                marked: false,
                writer,
                versions: if number == 0 {
                    vec![version]
                } else {
                    Vec::new()
                },
            };
            store.indexes[number].records.insert(key, record);
        }
    }
}
