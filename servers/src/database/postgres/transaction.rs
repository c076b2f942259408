//! Transactions: their beginning, their savepoints, their end.

use super::super::core::Core;
use super::super::named;
use super::super::session::SessionId;
use super::heap::Cid;
use super::waiting::{For, done_with_all, has_come};
use super::xids::{Fate, Snapshot, Xid};
use crate::Ms;
use crate::broken::{self, Broken};
use scheduler::ports::sql::{Query, Reply, SqlError, TableDef, Tag};
use scheduler::ports::{Isolation, Table};
use std::sync::Arc;

/// What a session has open.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// The transaction itself, then each savepoint in it.
    levels: Vec<Level>,
    /// From REPEATABLE READ on: what all its statements see.
    pub(super) snapshot: Option<Snapshot>,
    /// The number of the statement at hand.
    pub(super) cid: Cid,
}

impl Transaction {
    /// Whether what is done now may be undone alone.
    pub(super) fn has_savepoint(&self) -> bool {
        self.levels.len() > 1
    }
}

/// A transaction, or what was done since a savepoint.
#[derive(Debug, Default)]
struct Level {
    name: Option<Arc<str>>,
    xid: Option<Xid>,
    /// Those of savepoints that were released.
    released: Vec<Xid>,
    /// The definitions of tables that were made or given an index, as they were before.
    before: Vec<(Table, Option<TableDef>)>,
}

impl Level {
    fn xids(&self) -> impl Iterator<Item = Xid> {
        self.released.iter().copied().chain(self.xid)
    }
}

/// Commits that were acknowledged and are not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Unflushed(Vec<(Vec<Xid>, Ms)>);

/// How long a commit without `synchronous_commit` may be lost: three times `wal_writer_delay`,
/// which is 200 ms.
const FLUSHED_AFTER: Ms = 600;

impl Unflushed {
    fn add(&mut self, xids: Vec<Xid>, now: Ms) {
        self.0.push((xids, now));
    }

    /// The log is written in order: a commit that is on disk has all before it there, too.
    fn flush(&mut self) {
        self.0.clear();
    }

    pub(super) fn lost_at(&mut self, now: Ms) -> Vec<Xid> {
        let commits = std::mem::take(&mut self.0).into_iter();
        commits
            .filter(|(_, at)| at + FLUSHED_AFTER > now)
            .flat_map(|(xids, _)| xids)
            .collect()
    }
}

/// COMMIT and its like; `None`: another statement.
pub(super) fn control(
    core: &mut Core,
    id: SessionId,
    query: &Query,
) -> Option<Result<Reply, SqlError>> {
    let done = match query {
        Query::Begin { isolation, .. } => Ok(begin(core, id, *isolation)),
        Query::Commit => commit(core, id),
        Query::Rollback => {
            end(core, id, Fate::Aborted);
            Ok(Tag::Rollback)
        }
        Query::Savepoint(name) => savepoint(core, id, name),
        Query::RollbackTo(name) => rollback_to(core, id, name),
        Query::ReleaseSavepoint(name) => release(core, id, name),
        _ => return None,
    };
    Some(done.map(Reply::done).inspect_err(|_| fail(core, id)))
}

fn begin(core: &mut Core, id: SessionId, isolation: Option<Isolation>) -> Tag {
    // A second BEGIN is a warning and changes nothing.
    if !core.session(id).in_transaction {
        let session = core.session_mut(id);
        session.in_transaction = true;
        session.isolation = isolation.unwrap_or(session.isolation);
        open(core, id);
        if broken::is(Broken::PostgresSnapshotAtBegin) {
            snapshot(core, id);
        }
    }
    Tag::Begin
}

/// Opens a transaction where none is open (a statement alone is one).
pub(super) fn open(core: &mut Core, id: SessionId) {
    let transaction = core.postgres.transactions.entry(id).or_default();
    if transaction.levels.is_empty() {
        transaction.levels.push(Level::default());
    }
}

fn commit(core: &mut Core, id: SessionId) -> Result<Tag, SqlError> {
    if core.session(id).failed {
        end(core, id, Fate::Aborted);
        return Ok(Tag::Rollback);
    }
    close(core, id)?;
    Ok(Tag::Commit)
}

/// Commits, if the transaction can be put in order with the others.
pub(super) fn close(core: &mut Core, id: SessionId) -> Result<(), SqlError> {
    let checked = core.postgres.serializable.check_commit(id);
    let fate = checked.map_or(Fate::Aborted, |()| Fate::Committed);
    end(core, id, fate);
    checked
}

/// The transaction is over, with all its savepoints.
pub(super) fn end(core: &mut Core, id: SessionId, fate: Fate) {
    let durable = core.session(id).settings.durable;
    let now = core.now;
    let mut levels = core
        .postgres
        .transactions
        .remove(&id)
        .unwrap_or_default()
        .levels;
    let xids: Vec<Xid> = levels.iter().flat_map(Level::xids).collect();
    if fate == Fate::Committed && !xids.is_empty() {
        let unflushed = &mut core.postgres.unflushed;
        if durable {
            unflushed.flush();
        } else {
            unflushed.add(xids.clone(), now);
        }
    }
    let store = &mut core.postgres;
    store
        .serializable
        .end(id, fate == Fate::Committed, store.xids.next());
    if fate == Fate::Aborted {
        undo_definitions(core, &mut levels);
    }
    let session = core.session_mut(id);
    session.in_transaction = false;
    session.failed = false;
    end_xids(core, &xids, fate);
    named::end_transaction(core, id);
    if broken::is(Broken::PostgresSessionLockEndsAtCommit) {
        named::release_all(core, id);
    }
}

fn end_xids(core: &mut Core, xids: &[Xid], fate: Fate) {
    for xid in xids {
        core.postgres.xids.end(*xid, fate);
    }
    // An insert that was neither confirmed nor taken back ends with its transaction, too.
    let come: Vec<For> = core
        .postgres
        .waits
        .iter()
        .map(|(_, what)| *what)
        .filter(|what| match what {
            For::End(xid) => xids.contains(xid),
            For::Turn(_) => false,
            For::Confirmation((table, tid)) => core
                .postgres
                .version(*table, *tid)
                .is_none_or(|version| xids.contains(&version.xmin)),
        })
        .collect();
    has_come(core, |what| come.contains(&what));
}

fn undo_definitions(core: &mut Core, levels: &mut [Level]) {
    for (table, before) in levels
        .iter_mut()
        .rev()
        .flat_map(|level| std::mem::take(&mut level.before).into_iter().rev())
    {
        match before {
            Some(definition) => core.tables.insert(table, definition),
            None => core.tables.remove(&table),
        };
    }
}

/// A statement has failed: what the transaction did, or did since its last savepoint, is undone at
/// once, and nothing but an end is admitted.
pub(super) fn fail(core: &mut Core, id: SessionId) {
    done_with_all(core, id);
    if broken::is(Broken::PostgresErrorLeavesTransaction) && core.session(id).in_transaction {
        return;
    }
    if !core.session(id).in_transaction {
        end(core, id, Fate::Aborted);
        return;
    }
    if std::mem::replace(&mut core.session_mut(id).failed, true) {
        return;
    }
    let transaction = core.postgres.transactions.get(&id);
    let depth = transaction.map_or(0, |transaction| transaction.levels.len());
    if depth <= 1 {
        end(core, id, Fate::Aborted);
        // The client has not said so yet: for it the transaction is still there.
        let session = core.session_mut(id);
        session.in_transaction = true;
        session.failed = true;
        open(core, id);
    } else {
        let name = undo_to(core, id, depth - 1);
        push_level(core, id, name);
    }
}

/// Undoes all levels from this one on; gives the name of the first.
fn undo_to(core: &mut Core, id: SessionId, depth: usize) -> Option<Arc<str>> {
    let transaction = core.postgres.transactions.get_mut(&id)?;
    let mut undone = transaction.levels.split_off(depth);
    let name = undone.first().and_then(|level| level.name.clone());
    let xids: Vec<Xid> = undone.iter().flat_map(Level::xids).collect();
    undo_definitions(core, &mut undone);
    end_xids(core, &xids, Fate::Aborted);
    name
}

fn push_level(core: &mut Core, id: SessionId, name: Option<Arc<str>>) {
    let level = Level {
        name,
        ..Level::default()
    };
    let transaction = core.postgres.transactions.entry(id).or_default();
    transaction.levels.push(level);
}

fn savepoint(core: &mut Core, id: SessionId, name: &Arc<str>) -> Result<Tag, SqlError> {
    if !core.session(id).in_transaction {
        return Err(SqlError::NoTransaction);
    }
    push_level(core, id, Some(Arc::clone(name)));
    Ok(Tag::Savepoint)
}

fn find(core: &Core, id: SessionId, name: &str) -> Result<usize, SqlError> {
    if !core.session(id).in_transaction {
        return Err(SqlError::NoTransaction);
    }
    let levels = core.postgres.transactions.get(&id).map(|t| &t.levels);
    levels
        .and_then(|levels| {
            levels
                .iter()
                .rposition(|level| level.name.as_deref() == Some(name))
        })
        .ok_or(SqlError::NoSavepoint)
}

/// The savepoint stays; what came after it is undone, and so are its locks.
fn rollback_to(core: &mut Core, id: SessionId, name: &Arc<str>) -> Result<Tag, SqlError> {
    let depth = find(core, id, name)?;
    undo_to(core, id, depth);
    push_level(core, id, Some(Arc::clone(name)));
    core.session_mut(id).failed = false;
    Ok(Tag::Rollback)
}

fn release(core: &mut Core, id: SessionId, name: &Arc<str>) -> Result<Tag, SqlError> {
    let depth = find(core, id, name)?;
    if let Some(transaction) = core.postgres.transactions.get_mut(&id) {
        let released = transaction.levels.split_off(depth);
        if let Some(outer) = transaction.levels.last_mut() {
            for level in released {
                outer.released.extend(level.xids());
                outer.before.extend(level.before);
            }
        }
    }
    Ok(Tag::Release)
}

/// The number under which the session writes; every level above has one, too.
pub(super) fn xid(core: &mut Core, id: SessionId) -> Xid {
    let store = &mut core.postgres;
    let transaction = store.transactions.entry(id).or_default();
    if transaction.levels.is_empty() {
        transaction.levels.push(Level::default());
    }
    let mut parent = None;
    for level in &mut transaction.levels {
        let xid = match level.xid {
            Some(xid) => xid,
            None => {
                let xid = store.xids.give(id, parent);
                if parent.is_none() {
                    store.serializable.name(id, xid);
                }
                *level.xid.insert(xid)
            }
        };
        parent = Some(xid);
    }
    parent.unwrap_or_else(|| store.xids.next())
}

/// What a statement that begins now sees: from REPEATABLE READ on what the transaction's first
/// statement saw.
pub(super) fn snapshot(core: &mut Core, id: SessionId) -> Snapshot {
    let isolation = core.session(id).isolation;
    let store = &mut core.postgres;
    if !keeps_snapshot(isolation) {
        return store.xids.snapshot();
    }
    let transaction = store.transactions.entry(id).or_default();
    if let Some(snapshot) = &transaction.snapshot {
        return snapshot.clone();
    }
    let snapshot = store.xids.snapshot();
    transaction.snapshot = Some(snapshot.clone());
    if isolation == Isolation::Serializable && !broken::is(Broken::PostgresSerializableOff) {
        let top = transaction.levels.first().and_then(|level| level.xid);
        store.serializable.begin(id, snapshot.clone(), top);
    }
    snapshot
}

/// Whether all statements of a transaction see the same.
pub(super) const fn keeps_snapshot(isolation: Isolation) -> bool {
    matches!(
        isolation,
        Isolation::RepeatableRead | Isolation::Serializable
    )
}

/// Remembers a table's definition before it is changed.
pub(super) fn remember(core: &mut Core, id: SessionId, table: Table) {
    let before = core.tables.get(&table).cloned();
    let transaction = core.postgres.transactions.entry(id).or_default();
    if let Some(level) = transaction.levels.last_mut() {
        level.before.push((table, before));
    }
}

/// The next statement sees what this one has done.
pub(super) fn next_statement(core: &mut Core, id: SessionId) {
    if let Some(transaction) = core.postgres.transactions.get_mut(&id) {
        transaction.cid += 1;
    }
}
