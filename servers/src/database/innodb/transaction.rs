//! Transactions: what they have changed, how it is undone, and what ends with them.

use super::Store;
use super::compatibility::Mode;
use super::inheritance::join_gaps;
use super::records::{Heap, IndexId, Key, Record, Row, Version};
use crate::Ms;
use crate::database::session::SessionId;
use scheduler::ports::sql::SqlError;
use scheduler::ports::{Isolation, Table};
use std::sync::Arc;

/// A transaction's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct TrxId(pub(super) u64);

/// One change, as it is undone.
#[derive(Clone, Debug)]
pub(super) enum Undo {
    /// A row has a new version: its first, another, or one that says that it is gone.
    Version { table: Table, key: Key },
    /// An entry of a secondary index was inserted.
    Inserted { index: IndexId, key: Key },
    /// An entry of a secondary index was marked or unmarked.
    Marked {
        index: IndexId,
        key: Key,
        was: bool,
        writer: TrxId,
    },
}

/// A transaction that is active.
#[derive(Debug)]
pub(super) struct Trx {
    pub(super) session: SessionId,
    pub(super) isolation: Isolation,
    /// `innodb_snapshot_isolation`: refuse to lock what the snapshot does not show.
    pub(super) snapshot_isolation: bool,
    /// Its number among those that write or lock to write, from when it first does.
    pub(super) writes_as: Option<u64>,
    /// The last commit that its snapshot shows.
    pub(super) view: Option<u64>,
    pub(super) undo: Vec<Undo>,
    /// Where the statement at hand began.
    pub(super) statement: usize,
    /// Whether it has read, locked or written anything yet.
    pub(super) joined: bool,
    /// Each with how much had been done by then; `None`: it had not joined.
    pub(super) savepoints: Vec<(Arc<str>, Option<usize>)>,
    /// The statement at hand replaces or updates rows whose keys it meets (`trx->duplicates`).
    pub(super) replaces: bool,
}

impl Trx {
    /// Rows changed: the other part of its weight.
    pub(super) fn changes(&self) -> usize {
        let rows = |undo: &&Undo| matches!(undo, Undo::Version { .. });
        self.undo.iter().filter(rows).count()
    }

    /// Whether it locks gaps (REPEATABLE READ and above).
    pub(super) fn locks_gaps(&self) -> bool {
        self.isolation >= Isolation::RepeatableRead
    }
}

impl Store {
    /// The transaction of a session, if it has one.
    pub(super) fn trx_of(&self, session: SessionId) -> Option<TrxId> {
        self.trxs
            .iter()
            .find(|(_, trx)| trx.session == session)
            .map(|(id, _)| *id)
    }

    pub(super) fn is_active(&self, trx: TrxId) -> bool {
        self.trxs.contains_key(&trx)
    }

    /// A number that nobody else has.
    pub(super) fn fresh(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    pub(super) fn log(&mut self, trx: TrxId, undo: Undo) {
        if let Some(trx) = self.trxs.get_mut(&trx) {
            trx.undo.push(undo);
        }
    }

    /// A transaction announces that it will lock rows of a table.
    pub(super) fn intend(&mut self, id: TrxId, table: Table, mode: Mode) {
        self.locks.intend(id, table, mode);
        if mode == Mode::Exclusive {
            let number = self.fresh();
            if let Some(trx) = self.trxs.get_mut(&id) {
                trx.writes_as.get_or_insert(number);
            }
        }
    }

    /// Notes that a transaction has changed an entry of an index.
    fn note_writer(&mut self, id: TrxId, index: IndexId) {
        let number = self.trxs.get(&id).and_then(|trx| trx.writes_as);
        let index = self.index_mut(index);
        index.youngest_writer = index.youngest_writer.max(number.unwrap_or(0));
    }

    /// A row gets a new version; the first one makes its record.
    pub(super) fn write(&mut self, trx: TrxId, table: Table, key: &Key, row: Row, deleted: bool) {
        let heap = Heap(self.fresh());
        let records = &mut self.index_mut(IndexId::clustered(table)).records;
        let record = records.entry(key.clone()).or_insert_with(|| Record {
            heap,
            marked: false,
            writer: trx,
            versions: Vec::new(),
        });
        record.versions.push(Version {
            row,
            deleted,
            writer: trx,
            commit: None,
        });
        let key = key.clone();
        self.log(trx, Undo::Version { table, key });
    }

    /// A secondary entry is inserted.
    pub(super) fn insert_entry(&mut self, trx: TrxId, index: IndexId, key: &Key) -> Heap {
        let heap = Heap(self.fresh());
        let record = Record {
            heap,
            marked: false,
            writer: trx,
            versions: Vec::new(),
        };
        self.index_mut(index).records.insert(key.clone(), record);
        self.note_writer(trx, index);
        let key = key.clone();
        self.log(trx, Undo::Inserted { index, key });
        heap
    }

    /// A secondary entry is delete-marked, or comes back.
    pub(super) fn mark_entry(&mut self, trx: TrxId, index: IndexId, key: &Key, marked: bool) {
        let Some(record) = self.index_mut(index).records.get_mut(key) else {
            return;
        };
        let (was, writer) = (record.marked, record.writer);
        record.marked = marked;
        record.writer = trx;
        self.note_writer(trx, index);
        let key = key.clone();
        self.log(
            trx,
            Undo::Marked {
                index,
                key,
                was,
                writer,
            },
        );
    }

    /// Undoes what a transaction did since a point, the last first. Its locks stay.
    pub(super) fn undo_to(&mut self, trx: TrxId, point: usize) {
        while let Some(undo) = self
            .trxs
            .get_mut(&trx)
            .and_then(|trx| (trx.undo.len() > point).then(|| trx.undo.pop()).flatten())
        {
            self.undo(undo);
        }
        if let Some(trx) = self.trxs.get_mut(&trx) {
            trx.savepoints
                .retain(|(_, at)| at.is_none_or(|at| at <= point));
        }
        self.settle();
    }

    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Version { table, key } => {
                let index = IndexId::clustered(table);
                let record = self.index_mut(index).records.get_mut(&key);
                let empty = record.is_some_and(|record| {
                    record.versions.pop();
                    record.versions.is_empty()
                });
                if empty {
                    self.remove(index, &key);
                }
            }
            Undo::Inserted { index, key } => self.remove(index, &key),
            Undo::Marked {
                index,
                key,
                was,
                writer,
            } => {
                if let Some(record) = self.index_mut(index).records.get_mut(&key) {
                    record.marked = was;
                    record.writer = writer;
                }
            }
        }
    }

    /// Takes a record out for good; its locks go to the gap that is wider now.
    pub(super) fn remove(&mut self, index: IndexId, key: &Key) {
        let Some(record) = self.index_mut(index).records.remove(key) else {
            return;
        };
        let successor = self.index(index).successor(key);
        let trxs = &self.trxs;
        let inherits = |trx: TrxId, mode: Mode| {
            trxs.get(&trx).is_some_and(|trx| {
                let for_change = match trx.replaces {
                    true => Mode::Shared,
                    false => Mode::Exclusive,
                };
                trx.locks_gaps() || mode != for_change
            })
        };
        let released = join_gaps(&mut self.locks, index, record.heap, successor, inherits);
        for trx in released {
            self.wake(trx, Ok(()));
        }
    }

    /// Everything that a transaction did is undone, and its locks are gone.
    pub(super) fn rollback(&mut self, trx: TrxId) {
        self.undo_to(trx, 0);
        self.end(trx);
    }

    /// A transaction goes back to where it had not joined: nothing is left of it, its locks and its
    /// snapshot neither (`ha_rollback_to_savepoint` of an engine that joined later).
    pub(super) fn leave(&mut self, id: TrxId) {
        self.undo_to(id, 0);
        if let Some(trx) = self.trxs.get_mut(&id) {
            (trx.view, trx.writes_as, trx.joined) = (None, None, false);
        }
        self.locks.release(id);
        self.settle();
    }

    /// What a transaction did stays, and everybody may see it.
    pub(super) fn commit(&mut self, trx: TrxId, now: Ms, durable: bool) {
        let undo = match self.trxs.get_mut(&trx) {
            Some(trx) => std::mem::take(&mut trx.undo),
            None => return,
        };
        if !undo.is_empty() {
            self.commits += 1;
            self.note_for_disk(&undo, trx, now, durable);
            self.stamp(&undo, trx);
            self.note_garbage(undo, now);
        }
        self.end(trx);
    }

    fn stamp(&mut self, undo: &[Undo], trx: TrxId) {
        let commit = Some(self.commits);
        for undo in undo {
            let Undo::Version { table, key } = undo else {
                continue;
            };
            let index = self.index_mut(IndexId::clustered(*table));
            let versions = index
                .records
                .get_mut(key)
                .map(|record| &mut record.versions);
            for version in versions.into_iter().flatten() {
                if version.writer == trx {
                    version.commit = commit;
                }
            }
        }
    }

    fn end(&mut self, trx: TrxId) {
        self.trxs.remove(&trx);
        self.locks.release(trx);
        self.settle();
    }

    /// Whoever need not wait any longer goes on; circles that have come about are ended.
    pub(super) fn settle(&mut self) {
        let (granted, changed) = self.locks.grant();
        for trx in granted {
            self.wake(trx, Ok(()));
        }
        for trx in changed {
            if let Some(victim) = self.victim(trx) {
                self.kill(victim);
            }
        }
    }

    /// A waiting transaction is told that it is the victim; it undoes its work itself.
    pub(super) fn kill(&mut self, victim: TrxId) {
        self.locks.cancel(victim);
        self.wake(victim, Err(SqlError::Deadlock));
        self.settle();
    }

    /// Notes that a session's wait is over; [`super::wake`] tells it.
    fn wake(&mut self, trx: TrxId, result: Result<(), SqlError>) {
        if let Some(session) = self.trxs.get(&trx).map(|trx| trx.session) {
            self.woken.push((session, result));
        }
    }
}
