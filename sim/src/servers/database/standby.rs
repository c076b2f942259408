//! What a standby does not have yet: the last commits, kept for as long as one may be behind.

use super::tables::{Stored, Tables};
use evidence::Timestamp;
use scheduler::ports::{Key, Row, Table};
use std::collections::{BTreeMap, VecDeque};

/// A row as it was before a commit; `None`: there was none.
pub(super) type Before = (Table, Key, Option<Stored>);

/// The last commits, the oldest first.
#[derive(Default)]
pub(crate) struct Standby {
    /// How far behind it may be, in milliseconds; 0: nothing is kept.
    behind_ms: i64,
    commits: VecDeque<(Timestamp, Vec<Before>)>,
}

impl Standby {
    /// Nothing is committed yet.
    pub(super) fn open(&mut self, behind_ms: i64) {
        self.behind_ms = behind_ms;
        self.commits.clear();
    }

    /// Whether commits are to be told.
    pub(super) const fn listens(&self) -> bool {
        self.behind_ms > 0
    }

    /// A commit, with what was there before.
    pub(super) fn commit(&mut self, now: Timestamp, before: Vec<Before>) {
        self.forget(now);
        if !before.is_empty() {
            self.commits.push_back((now, before));
        }
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some((at, _)) = self.commits.front()
            && at.0 + self.behind_ms <= now.0
        {
            self.commits.pop_front();
        }
    }

    /// Whether a standby that is as far behind as it may be has everything.
    pub(super) fn has_all(&self, now: Timestamp) -> bool {
        self.commits
            .back()
            .is_none_or(|(at, _)| at.0 + self.behind_ms <= now.0)
    }

    /// Takes back what was committed less than `lose_ms` ago.
    pub(super) fn lose(&mut self, now: Timestamp, lose_ms: i64, tables: &mut Tables) {
        while let Some((at, _)) = self.commits.back()
            && at.0 + lose_ms > now.0
        {
            let Some((_, before)) = self.commits.pop_back() else {
                return;
            };
            for (table, key, row) in before.into_iter().rev() {
                tables.put(table, &key, row);
            }
        }
    }

    /// The rows of a table as a replica has them that is `lag_ms` behind.
    pub(super) fn rows(
        &self,
        now: Timestamp,
        lag_ms: i64,
        table: Table,
        tables: &Tables,
    ) -> Vec<Row> {
        let mut rows: BTreeMap<Key, Stored> = tables
            .rows(table)
            .map(|(key, row)| (key.clone(), row.clone()))
            .collect();
        let missing = self.commits.iter().rev();
        for (_, before) in missing.take_while(|(at, _)| at.0 + lag_ms > now.0) {
            for (_, key, row) in before.iter().rev().filter(|(of, _, _)| *of == table) {
                match row {
                    Some(row) => rows.insert(key.clone(), row.clone()),
                    None => rows.remove(key),
                };
            }
        }
        let row = |(key, stored): (Key, Stored)| Row {
            key,
            cells: stored.cells,
            slot: stored.slot,
        };
        rows.into_iter().map(row).collect()
    }
}
