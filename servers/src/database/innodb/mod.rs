//! MariaDB 10.11's InnoDB, as a mechanism: ordered indexes, versions of rows, record and gap locks.
//!
//! A statement finds its records through one index ([`plan`]), locks them as it comes upon them
//! ([`scan`]), and changes them ([`insert`], [`update`]); whoever is in the way is waited for
//! ([`waiting`]). What stands against what is in [`compatibility`], the queues are in [`locks`], what
//! becomes of locks when records come and go in [`inheritance`], circles in [`deadlock`]. A plain
//! read locks nothing and sees what its snapshot shows ([`versions`]). What nobody can see goes some
//! time later ([`purge`]).

mod compatibility;
mod deadlock;
mod disk;
mod duplicates;
mod inheritance;
mod insert;
mod locks;
mod numbers;
mod plan;
mod purge;
mod records;
mod scan;
mod select;
mod statement;
mod subquery;
#[cfg(test)]
mod tests;
mod transaction;
mod update;
mod versions;
mod waiting;

use super::core::{Core, Handle};
use super::engine::{Engine, Running};
use super::session::SessionId;
use locks::Locks;
use records::{Index, IndexId, TableStore};
use scheduler::ports::sql::{Query, SqlError};
use scheduler::ports::{Table, Value};
use std::collections::{BTreeMap, VecDeque};
use transaction::{Trx, TrxId};

/// Rows, versions and locks.
#[derive(Default)]
pub(super) struct Store {
    tables: BTreeMap<Table, TableStore>,
    /// The transactions that are active.
    trxs: BTreeMap<TrxId, Trx>,
    locks: Locks,
    /// How many commits there were: what a snapshot counts by.
    commits: u64,
    last_number: u64,
    garbage: VecDeque<purge::Garbage>,
    unflushed: Vec<disk::Unflushed>,
    /// Sessions whose wait is over, until they are told.
    woken: Vec<(SessionId, Result<(), SqlError>)>,
}

impl Store {
    /// An index; every index that a statement names is there.
    fn index(&self, id: IndexId) -> &Index {
        &self.tables[&id.table].indexes[id.number]
    }

    fn index_mut(&mut self, id: IndexId) -> &mut Index {
        let table = self.tables.get_mut(&id.table);
        &mut table.expect("a statement's table is there").indexes[id.number]
    }
}

/// Tells the sessions whose wait is over.
fn tell(core: &mut Core) {
    for (session, result) in std::mem::take(&mut core.innodb.woken) {
        core.wake(session, result);
    }
}

pub(super) struct InnoDb;

impl Engine for InnoDb {
    fn admits(&self, _: &Core, _: SessionId, _: &Query) -> Result<(), SqlError> {
        Ok(())
    }

    fn run(&self, handle: Handle, session: SessionId, query: Query) -> Running {
        Box::pin(statement::run(handle, session, query))
    }

    fn abandon(&self, core: &mut Core, session: SessionId) {
        if let Some(trx) = core.innodb.trx_of(session) {
            core.innodb.rollback(trx);
            tell(core);
        }
    }

    fn blockers(&self, core: &Core, session: SessionId) -> Vec<SessionId> {
        let store = &core.innodb;
        let waiting = store
            .trx_of(session)
            .and_then(|trx| store.locks.waiting_of(trx));
        let Some(place) = waiting else {
            return Vec::new();
        };
        let mut sessions: Vec<SessionId> = store
            .locks
            .ahead_of(place)
            .filter_map(|trx| Some(store.trxs.get(&trx)?.session))
            .collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    fn is_deadlocked(&self, _: &Core, _: SessionId) -> bool {
        // InnoDB looks when a wait begins, not later.
        false
    }

    fn stop_waiting(&self, core: &mut Core, session: SessionId) {
        if let Some(trx) = core.innodb.trx_of(session) {
            core.innodb.locks.cancel(trx);
            core.innodb.settle();
            tell(core);
        }
    }

    fn crash(&self, core: &mut Core) {
        let now = core.now;
        core.innodb.restart(now);
    }

    fn committed(&self, core: &Core, table: Table) -> Vec<Vec<Value>> {
        core.innodb.committed_rows(table)
    }
}
