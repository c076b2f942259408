//! What the server has committed, as plain rows.

use super::translate;
use crate::servers::database::standby::Standby;
use crate::servers::database::{Stored, Tables};
use evidence::Timestamp;
use scheduler::ports::{Key, Table};
use scheduler::tables;
use servers::database::Server;
use std::collections::BTreeSet;

/// The plain rows, and who wants to know what they were.
pub(crate) struct Mirror<'a> {
    pub(crate) rows: &'a mut Tables,
    pub(crate) standby: &'a mut Standby,
}

impl Mirror<'_> {
    /// Makes the rows of these tables (a bit set) those that the server has committed.
    pub(super) fn follow(&mut self, server: &Server, now: Timestamp, touched: u32) {
        let mut before = Vec::new();
        for number in 0..tables::COUNT {
            if touched & (1 << number) == 0 {
                continue;
            }
            let table = Table(number as u8);
            let mut gone: BTreeSet<Key> =
                self.rows.rows(table).map(|(key, _)| key.clone()).collect();
            for values in server.committed(table) {
                let Some(row) = translate::row(table, &values) else {
                    continue;
                };
                gone.remove(&row.key);
                let (cells, slot) = (row.cells, row.slot);
                let same = |known: &Stored| known.cells == cells && known.slot == slot;
                if self.rows.get(table, &row.key).is_some_and(same) {
                    continue;
                }
                let was = self.rows.put(table, &row.key, Some(Stored { cells, slot }));
                before.push((table, row.key, was));
            }
            for key in gone {
                let was = self.rows.put(table, &key, None);
                before.push((table, key, was));
            }
        }
        if self.standby.listens() {
            self.standby.commit(now, before);
        }
    }
}
