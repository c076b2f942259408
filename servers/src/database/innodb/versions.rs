//! Which version of a row a plain read sees.

use super::Store;
use super::records::{Record, Row, Version};
use super::transaction::TrxId;
use crate::broken::{self, Broken};
use scheduler::ports::{Isolation, Table};

/// What a plain read goes by.
#[derive(Clone, Copy, Debug)]
pub(super) enum View {
    /// The newest version, committed or not (READ UNCOMMITTED).
    Newest,
    /// What was committed up to a point, and what the reader has done itself.
    AsOf { commit: u64, reader: TrxId },
}

impl View {
    pub(super) fn sees(self, version: &Version) -> bool {
        match self {
            View::Newest => true,
            View::AsOf { commit, reader } => {
                version.writer == reader || version.commit.is_some_and(|at| at <= commit)
            }
        }
    }

    /// The row as the reader sees it.
    pub(super) fn row(self, record: &Record) -> Option<&Row> {
        let version = record.versions.iter().rev().find(|v| self.sees(v))?;
        (!version.deleted).then_some(&version.row)
    }
}

/// The row as it was committed last; `None` where there is none.
pub(super) fn committed_row(record: &Record) -> Option<&Row> {
    let version = record.versions.iter().rev().find(|v| v.commit.is_some())?;
    (!version.deleted).then_some(&version.row)
}

impl Store {
    /// The view of a plain read. REPEATABLE READ takes it at its first one and keeps it; READ
    /// COMMITTED takes one for each statement.
    pub(super) fn view(&mut self, reader: TrxId) -> View {
        let latest = self.commits;
        let Some(trx) = self.trxs.get_mut(&reader) else {
            return View::Newest;
        };
        let commit = match trx.isolation {
            Isolation::ReadUncommitted => return View::Newest,
            Isolation::ReadCommitted => latest,
            Isolation::RepeatableRead | Isolation::Serializable => *trx.view.get_or_insert(latest),
        };
        View::AsOf { commit, reader }
    }

    /// The snapshot of a transaction that takes it when it begins.
    pub(super) fn open_view_at_begin(&mut self, trx: TrxId, asked: bool) {
        let latest = self.commits;
        let always = broken::is(Broken::MariaSnapshotAtBegin);
        if let Some(trx) = self.trxs.get_mut(&trx)
            && (asked || always)
            && trx.locks_gaps()
        {
            trx.view = Some(latest);
        }
    }

    /// Whether a transaction under `innodb_snapshot_isolation` must not lock this record: it has
    /// changed since the snapshot.
    pub(super) fn has_changed_since_snapshot(&self, trx: TrxId, record: &Record) -> bool {
        let Some(state) = self.trxs.get(&trx) else {
            return false;
        };
        let (Some(commit), true) = (state.view, state.snapshot_isolation) else {
            return false;
        };
        let view = View::AsOf {
            commit,
            reader: trx,
        };
        record.versions.last().is_some_and(|last| !view.sees(last))
    }

    /// Every committed row of a table, in the order of its clustered index.
    pub(super) fn committed_rows(&self, table: Table) -> Vec<Row> {
        let Some(store) = self.tables.get(&table) else {
            return Vec::new();
        };
        let records = store.indexes[0].records.values();
        records.filter_map(committed_row).cloned().collect()
    }
}
