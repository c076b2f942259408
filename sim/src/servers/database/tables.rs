//! Rows by table and key.

use evidence::SlotTag;
use scheduler::ports::{Cells, Key, Table};
use scheduler::tables;
use std::collections::BTreeMap;

/// A row, and the slot whose run wrote it last.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) cells: Cells,
    pub(crate) slot: SlotTag,
}

/// All rows, those of open transactions included (their before-images are with the sessions).
#[derive(Default)]
pub(crate) struct Tables {
    tables: [BTreeMap<Key, Stored>; tables::COUNT],
}

impl Tables {
    pub(super) fn clear(&mut self) {
        self.tables.iter_mut().for_each(BTreeMap::clear);
    }

    pub(crate) fn get(&self, table: Table, key: &Key) -> Option<&Stored> {
        self.tables[usize::from(table.0)].get(key)
    }

    /// Puts a row, or takes it away; gives what was there before.
    pub(crate) fn put(&mut self, table: Table, key: &Key, row: Option<Stored>) -> Option<Stored> {
        let rows = &mut self.tables[usize::from(table.0)];
        match row {
            Some(row) => rows.insert(key.clone(), row),
            None => rows.remove(key),
        }
    }

    /// Every row of a table, in key order.
    pub(crate) fn rows(&self, table: Table) -> impl Iterator<Item = (&Key, &Stored)> {
        self.tables[usize::from(table.0)].iter()
    }
}
