//! PostgreSQL 15: row versions, snapshots, row locks, unique keys, serializable snapshot isolation.
//!
//! The mechanism is PostgreSQL's own, as far as sessions can tell: a statement sees the versions
//! that its snapshot has ([`visibility`]), waits for whoever has a claim on the row that it wants
//! ([`row_locks`], [`waiting`]) or on its key ([`unique`]), and then looks again. A statement is
//! read from [`select`], [`insert`] or [`update`]; the rest is what they are made of.

mod conditions;
mod definitions;
mod heap;
mod insert;
mod job;
mod plan;
mod predicate;
mod row_locks;
mod scan;
mod select;
mod serializable;
mod subqueries;
mod transaction;
mod unique;
mod update;
mod visibility;
mod waiting;
mod xids;

#[cfg(test)]
mod tests;

use super::core::{Core, Handle};
use super::engine::{Engine, Running};
use super::session::SessionId;
use heap::{Heap, Tid, Version};
use job::Job;
use scheduler::ports::sql::{Query, Reply, SqlError, Tag};
use scheduler::ports::{Table, Value};
use std::collections::BTreeMap;
use visibility::View;

/// Rows, versions and locks.
#[derive(Default)]
pub(super) struct Store {
    heaps: BTreeMap<Table, Heap>,
    xids: xids::Xids,
    transactions: BTreeMap<SessionId, transaction::Transaction>,
    /// Who waits for what, in the order in which they came.
    waits: Vec<(SessionId, waiting::For)>,
    /// Who stands at which row, in the order in which they came.
    queue: Vec<waiting::Queued>,
    serializable: serializable::Serializable,
    unflushed: transaction::Unflushed,
}

impl Store {
    fn view(&self, session: SessionId) -> View<'_> {
        View {
            xids: &self.xids,
            session,
        }
    }

    fn version(&self, table: Table, tid: Tid) -> Option<&Version> {
        self.heaps.get(&table)?.versions.get(tid)
    }

    fn version_mut(&mut self, table: Table, tid: Tid) -> Option<&mut Version> {
        self.heaps.get_mut(&table)?.versions.get_mut(tid)
    }

    fn len(&self, table: Table) -> usize {
        self.heaps.get(&table).map_or(0, |heap| heap.versions.len())
    }

    /// The versions that stand in an index themselves, in the order of their places.
    fn entries(&self, table: Table, index: usize) -> Vec<Tid> {
        (0..self.len(table))
            .filter(|tid| {
                self.version(table, *tid)
                    .is_some_and(|version| !version.heap_only && version.entered > index)
            })
            .collect()
    }
}

pub(super) struct Postgres;

impl Engine for Postgres {
    fn admits(&self, core: &Core, session: SessionId, query: &Query) -> Result<(), SqlError> {
        let ends = matches!(
            query,
            Query::Commit | Query::Rollback | Query::RollbackTo(_)
        );
        if core.session(session).failed && !ends {
            return Err(SqlError::TransactionAborted);
        }
        Ok(())
    }

    fn begins(&self, core: &mut Core, session: SessionId, query: &Query) {
        // A SELECT without a table has a snapshot all the same, and the transaction keeps it.
        let looks = matches!(query, Query::Values(_) | Query::Named(_));
        if looks && core.session(session).in_transaction {
            transaction::snapshot(core, session);
        }
    }

    fn fails(&self, core: &mut Core, session: SessionId) {
        if core.session(session).in_transaction {
            transaction::fail(core, session);
        }
    }

    fn run(&self, handle: Handle, session: SessionId, query: Query) -> Running {
        Box::pin(run(handle, session, query))
    }

    fn abandon(&self, core: &mut Core, session: SessionId) {
        waiting::done_with_all(core, session);
        transaction::end(core, session, xids::Fate::Aborted);
    }

    fn blockers(&self, core: &Core, session: SessionId) -> Vec<SessionId> {
        waiting::blockers(core, session)
    }

    fn is_deadlocked(&self, core: &Core, session: SessionId) -> bool {
        waiting::is_deadlocked(core, session)
    }

    fn stop_waiting(&self, core: &mut Core, session: SessionId) {
        waiting::done_with_all(core, session);
    }

    fn crash(&self, core: &mut Core) {
        let now = core.now;
        let store = &mut core.postgres;
        let mut lost = store.unflushed.lost_at(now);
        lost.extend(store.xids.all_running());
        for xid in lost {
            store.xids.end(xid, xids::Fate::Aborted);
        }
        for heap in store.heaps.values_mut() {
            heap.crash();
        }
        store.transactions.clear();
        store.waits.clear();
        store.queue.clear();
        store.serializable = serializable::Serializable::default();
    }

    fn committed(&self, core: &Core, table: Table) -> Vec<Vec<Value>> {
        definitions::committed(core, table)
    }
}

/// Runs a statement: alone it is a transaction of its own.
async fn run(handle: Handle, id: SessionId, query: Query) -> Result<Reply, SqlError> {
    if let Some(done) = transaction::control(&mut handle.borrow_mut(), id, &query) {
        return done;
    }
    let job = Job::begin(handle.clone(), id);
    let result = work(&job, query).await;
    let mut core = handle.borrow_mut();
    let core = &mut *core;
    waiting::done_with_all(core, id);
    let result = match result {
        Ok(reply) if core.session(id).in_transaction => Ok(reply),
        Ok(reply) => transaction::close(core, id).map(|()| reply),
        Err(error) => Err(error),
    };
    match &result {
        Ok(_) => transaction::next_statement(core, id),
        Err(_) => transaction::fail(core, id),
    }
    result
}

async fn work(job: &Job, query: Query) -> Result<Reply, SqlError> {
    match query {
        Query::Select(select) => {
            let rows = job.select(select).await?;
            Ok(Reply {
                affected: Some(u64::try_from(rows.len()).unwrap_or(u64::MAX)),
                rows: Some(rows),
                ..Reply::done(Tag::Select)
            })
        }
        Query::Insert(insert) => job.insert(insert).await,
        Query::Update(update) => job.update(update).await,
        Query::Delete(delete) => job.delete(delete).await,
        Query::CreateTable(table, definition) => Ok(job.create_table(table, definition)),
        Query::CreateIndex(table, index) => job.create_index(table, index),
        // The others are run elsewhere.
        _ => Ok(Reply::done(Tag::Select)),
    }
}
