//! Rows by table and key.

use super::interest::is_open;
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
    tables: [Rows; tables::COUNT],
}

/// The rows of a table.
#[derive(Default)]
struct Rows {
    by_key: BTreeMap<Key, usize>,
    places: Vec<Place>,
    free: Vec<usize>,
    /// Places of rows that a poller may find.
    open: Vec<usize>,
}

/// Where a row is kept.
#[derive(Default)]
struct Place {
    row: Option<Stored>,
    /// Its place among the open ones.
    open_at: Option<usize>,
}

impl Tables {
    pub(super) fn clear(&mut self) {
        for rows in &mut self.tables {
            rows.by_key.clear();
            rows.places.clear();
            rows.free.clear();
            rows.open.clear();
        }
    }

    pub(crate) fn get(&self, table: Table, key: &Key) -> Option<&Stored> {
        let rows = &self.tables[usize::from(table.0)];
        rows.row(*rows.by_key.get(key)?)
    }

    /// Puts a row, or takes it away; gives what was there before.
    pub(crate) fn put(&mut self, table: Table, key: &Key, row: Option<Stored>) -> Option<Stored> {
        let rows = &mut self.tables[usize::from(table.0)];
        let known = rows.by_key.get(key).copied();
        let place = match (known, &row) {
            (Some(place), _) => place,
            (None, None) => return None,
            (None, Some(_)) => rows.add(key),
        };
        let open = row.as_ref().is_some_and(|row| is_open(table, &row.cells));
        rows.list_if(place, open);
        if row.is_none() {
            rows.by_key.remove(key);
            rows.free.push(place);
        }
        std::mem::replace(&mut rows.places[place].row, row)
    }

    /// Every row of a table, in key order.
    pub(crate) fn rows(&self, table: Table) -> impl Iterator<Item = (&Key, &Stored)> {
        let rows = &self.tables[usize::from(table.0)];
        let row = |(key, place): (_, &usize)| Some((key, rows.row(*place)?));
        rows.by_key.iter().filter_map(row)
    }

    /// The rows of a table that a poller may find, in any order.
    pub(super) fn open_rows(&self, table: Table) -> impl Iterator<Item = &Stored> {
        let rows = &self.tables[usize::from(table.0)];
        rows.open.iter().filter_map(|place| rows.row(*place))
    }
}

impl Rows {
    fn row(&self, place: usize) -> Option<&Stored> {
        self.places.get(place)?.row.as_ref()
    }

    /// An empty place under a new key.
    fn add(&mut self, key: &Key) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() - 1
        });
        self.by_key.insert(key.clone(), place);
        place
    }

    /// Lists the place among the open ones, or takes it off the list.
    fn list_if(&mut self, place: usize, open: bool) {
        match (self.places[place].open_at, open) {
            (None, true) => {
                self.places[place].open_at = Some(self.open.len());
                self.open.push(place);
            }
            (Some(at), false) => {
                self.places[place].open_at = None;
                self.open.swap_remove(at);
                if let Some(moved) = self.open.get(at) {
                    self.places[*moved].open_at = Some(at);
                }
            }
            _ => {}
        }
    }
}
