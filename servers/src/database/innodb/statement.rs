//! A statement from its beginning to its end, and what its end does to the transaction.

use super::transaction::{Trx, TrxId};
use super::waiting::Asker;
use super::{insert, records, select, subquery, tell, update};
use crate::broken::{self, Broken};
use crate::database::core::{Core, Handle};
use crate::database::named;
use crate::database::session::SessionId;
use scheduler::ports::Isolation;
use scheduler::ports::sql::{Query, Reply, SqlError, Tag};
use std::sync::Arc;

/// Runs a statement.
pub(super) async fn run(
    handle: Handle,
    session: SessionId,
    query: Query,
) -> Result<Reply, SqlError> {
    match query {
        Query::CreateTable(..) | Query::CreateIndex(..) => {
            Ok(define(&mut handle.borrow_mut(), session, query))
        }
        Query::Begin {
            snapshot,
            isolation,
        } => {
            begin(&mut handle.borrow_mut(), session, snapshot, isolation);
            Ok(Reply::done(Tag::Begin))
        }
        Query::Commit => {
            end(&mut handle.borrow_mut(), session, true);
            Ok(Reply::done(Tag::Commit))
        }
        Query::Rollback => {
            end(&mut handle.borrow_mut(), session, false);
            Ok(Reply::done(Tag::Rollback))
        }
        Query::Savepoint(name) => {
            savepoint(&mut handle.borrow_mut(), session, name);
            Ok(Reply::done(Tag::Savepoint))
        }
        Query::RollbackTo(name) => back_to(&mut handle.borrow_mut(), session, &name, false)
            .map(|()| Reply::done(Tag::Rollback)),
        Query::ReleaseSavepoint(name) => back_to(&mut handle.borrow_mut(), session, &name, true)
            .map(|()| Reply::done(Tag::Release)),
        query => on_rows(handle, session, query).await,
    }
}

/// A statement on rows: it is done whole or not at all.
async fn on_rows(handle: Handle, session: SessionId, mut query: Query) -> Result<Reply, SqlError> {
    let trx = start(&mut handle.borrow_mut(), session);
    let asker = Asker {
        handle,
        session,
        trx,
    };
    let result = match subquery::resolve(&asker, &mut query).await {
        Ok(()) => match &query {
            Query::Select(select) => select::run(&asker, select).await,
            Query::Insert(insert) => insert::run(&asker, insert).await,
            Query::Update(update) => update::update(&asker, update).await,
            Query::Delete(delete) => update::delete(&asker, delete).await,
            _ => Ok(Reply::done(Tag::Set)),
        },
        Err(error) => Err(error),
    };
    finish(&mut asker.handle.borrow_mut(), session, trx, &result);
    result
}

/// The transaction that a statement belongs to: the session's, or one of its own.
fn start(core: &mut Core, session: SessionId) -> TrxId {
    core.innodb.purge(core.now);
    tell(core);
    if !core.session(session).settings.autocommit {
        core.session_mut(session).in_transaction = true;
    }
    let trx = match core.innodb.trx_of(session) {
        Some(trx) => trx,
        None => open(core, session),
    };
    if let Some(trx) = core.innodb.trxs.get_mut(&trx) {
        trx.statement = trx.undo.len();
        trx.joined = true;
    }
    trx
}

fn open(core: &mut Core, session: SessionId) -> TrxId {
    let state = core.session(session);
    let (isolation, settings) = (state.isolation, state.settings);
    let id = TrxId(core.innodb.fresh());
    let trx = Trx {
        session,
        isolation,
        snapshot_isolation: settings.snapshot_isolation,
        writes_as: None,
        view: None,
        undo: Vec::new(),
        statement: 0,
        joined: false,
        savepoints: Vec::new(),
        replaces: false,
    };
    core.innodb.trxs.insert(id, trx);
    id
}

/// What a statement's end does: a deadlock ends the transaction, another error undoes the statement
/// (its locks stay), and without a transaction the statement was one by itself.
fn finish(core: &mut Core, session: SessionId, trx: TrxId, result: &Result<Reply, SqlError>) {
    let in_transaction = core.session(session).in_transaction;
    let (durable, now) = (core.session(session).settings.durable, core.now);
    match result {
        Err(SqlError::Deadlock | SqlError::RecordChanged) => {
            core.innodb.rollback(trx);
            if !broken::is(Broken::MariaDeadlockLeavesTransaction) {
                over(core, session);
            }
        }
        Err(SqlError::LockTimeout) if broken::is(Broken::MariaTimeoutRollsBackAll) => {
            core.innodb.rollback(trx);
            over(core, session);
        }
        Err(_) if !in_transaction => core.innodb.rollback(trx),
        Err(_) => {
            let point = core.innodb.trxs.get(&trx).map_or(0, |trx| trx.statement);
            core.innodb.undo_to(trx, point);
        }
        Ok(_) if !in_transaction => core.innodb.commit(trx, now, durable),
        Ok(_) => {}
    }
    if let Some(trx) = core.innodb.trxs.get_mut(&trx) {
        trx.replaces = false;
    }
    tell(core);
}

/// The session is in no transaction any longer.
fn over(core: &mut Core, session: SessionId) {
    core.session_mut(session).in_transaction = false;
    named::end_transaction(core, session);
}

/// Ends the session's transaction, if it has one.
fn end(core: &mut Core, session: SessionId, commit: bool) {
    let (durable, now) = (core.session(session).settings.durable, core.now);
    if let Some(trx) = core.innodb.trx_of(session) {
        match commit {
            true => core.innodb.commit(trx, now, durable),
            false => core.innodb.rollback(trx),
        }
    }
    over(core, session);
    tell(core);
}

/// BEGIN; what was open is committed.
fn begin(core: &mut Core, session: SessionId, snapshot: bool, isolation: Option<Isolation>) {
    end(core, session, true);
    let now = core.now;
    let state = core.session_mut(session);
    state.in_transaction = true;
    state.transaction_at = now;
    state.isolation = isolation.unwrap_or(state.settings.isolation);
    if snapshot || broken::is(Broken::MariaSnapshotAtBegin) {
        let trx = open(core, session);
        core.innodb.open_view_at_begin(trx, snapshot);
        if let Some(trx) = core.innodb.trxs.get_mut(&trx) {
            trx.joined = true;
        }
    }
}

/// CREATE TABLE, CREATE INDEX; what was open is committed.
fn define(core: &mut Core, session: SessionId, query: Query) -> Reply {
    end(core, session, true);
    match query {
        Query::CreateTable(table, def) => {
            let store = records::TableStore::new(&def);
            core.innodb.tables.insert(table, store);
            core.tables.insert(table, def);
            Reply::done(Tag::CreateTable)
        }
        Query::CreateIndex(table, index) => {
            if let Some(def) = core.tables.get_mut(&table) {
                def.indexes.push(index);
                let def = def.clone();
                core.innodb.redefine(table, &def);
            }
            Reply::done(Tag::CreateIndex)
        }
        _ => Reply::done(Tag::Set),
    }
}

/// SAVEPOINT; outside a transaction it is forgotten at once.
fn savepoint(core: &mut Core, session: SessionId, name: Arc<str>) {
    if !core.session(session).in_transaction {
        return;
    }
    let trx = match core.innodb.trx_of(session) {
        Some(trx) => trx,
        None => open(core, session),
    };
    if let Some(trx) = core.innodb.trxs.get_mut(&trx) {
        trx.savepoints.retain(|(other, _)| *other != name);
        let done = trx.joined.then_some(trx.undo.len());
        trx.savepoints.push((name, done));
    }
}

/// ROLLBACK TO and RELEASE: later savepoints go, and with the first what was done since.
fn back_to(core: &mut Core, session: SessionId, name: &str, release: bool) -> Result<(), SqlError> {
    let id = core.innodb.trx_of(session).ok_or(SqlError::NoSavepoint)?;
    let trx = core.innodb.trxs.get_mut(&id).ok_or(SqlError::NoSavepoint)?;
    let place = trx
        .savepoints
        .iter()
        .position(|(other, _)| **other == *name);
    let place = place.ok_or(SqlError::NoSavepoint)?;
    let (_, point) = trx.savepoints[place];
    trx.savepoints
        .truncate(if release { place } else { place + 1 });
    match point {
        _ if release => {}
        Some(point) => core.innodb.undo_to(id, point),
        None => core.innodb.leave(id),
    }
    tell(core);
    Ok(())
}
