//! Locks that have a name and no row: GET_LOCK, advisory locks.
//!
//! They belong to the session (or, where asked, to its transaction), may be taken again by who has
//! them, survive COMMIT and ROLLBACK, and go with the connection.

use super::core::{Core, Handle, signalled};
use super::engine::Flavor;
use super::session::{Session, SessionId, Waiting};
use crate::Ms;
use scheduler::ports::Value;
use scheduler::ports::sql::{NamedLock, Reply, SqlError, Tag};
use std::sync::Arc;

/// A lock that a session has.
#[derive(Clone, Debug)]
pub(super) struct Held {
    name: Arc<str>,
    /// Whether it ends with the transaction.
    transaction: bool,
}

/// A lock that a session waits for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    name: Arc<str>,
    /// Whoever has a smaller one came before.
    place: u64,
}

/// Takes or releases a lock; the answer is one row with one value.
pub(super) async fn run(handle: Handle, id: SessionId, lock: NamedLock) -> Result<Reply, SqlError> {
    let value = match lock {
        NamedLock::Take {
            name,
            wait,
            transaction,
        } => Value::Int(i64::from(take(&handle, id, name, wait, transaction).await?)),
        NamedLock::Release { name } => release(&mut handle.borrow_mut(), id, &name),
    };
    Ok(Reply {
        rows: Some(vec![vec![value]]),
        ..Reply::done(Tag::Select)
    })
}

async fn take(
    handle: &Handle,
    id: SessionId,
    name: Arc<str>,
    wait: Option<u64>,
    transaction: bool,
) -> Result<bool, SqlError> {
    let until = {
        let core = handle.borrow();
        // PostgreSQL's lock_timeout is for these locks, too; GET_LOCK has a time of its own.
        let setting = core.session(id).settings.lock_wait;
        let setting = setting.filter(|_| core.flavor == Flavor::Postgres);
        wait.or(setting).map(|wait| core.now + wait)
    };
    loop {
        {
            let mut core = handle.borrow_mut();
            if holder(&core, &name).is_none_or(|holder| holder == id) {
                let session = core.session_mut(id);
                // Without BEGIN the transaction is over with the statement, and so is its lock.
                if session.in_transaction || !transaction {
                    session.named.push(Held { name, transaction });
                }
                return Ok(true);
            }
            if wait == Some(0) {
                return Ok(false);
            }
            queue(&mut core, id, &name, until);
        }
        let signal = signalled(handle, id).await;
        handle.borrow_mut().session_mut(id).wanted = None;
        match signal {
            Ok(()) => {}
            Err(SqlError::LockTimeout) if wait.is_some() => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Enters the session behind whoever waits already.
fn queue(core: &mut Core, id: SessionId, name: &Arc<str>, until: Option<Ms>) {
    let place = in_line(core).last().map_or(0, |(place, _)| place + 1);
    let check = core.flavor == Flavor::Postgres;
    let now = core.now;
    let session = core.session_mut(id);
    session.wanted = Some(Wanted {
        name: Arc::clone(name),
        place,
    });
    session.waiting = Some(Waiting {
        until,
        check_at: check.then_some(now + session.settings.deadlock_check),
        named: true,
    });
}

fn release(core: &mut Core, id: SessionId, name: &str) -> Value {
    let held = &mut core.session_mut(id).named;
    let Some(place) = held
        .iter()
        .rposition(|held| *held.name == *name && !held.transaction)
    else {
        // RELEASE_LOCK of a lock that nobody has gives NULL.
        let nobody = holder(core, name).is_none() && core.flavor == Flavor::MariaDb;
        return if nobody { Value::Null } else { Value::Int(0) };
    };
    held.remove(place);
    wake_next(core);
    Value::Int(1)
}

/// The transaction of a session is over.
pub(super) fn end_transaction(core: &mut Core, id: SessionId) {
    let held = &mut core.session_mut(id).named;
    let before = held.len();
    held.retain(|held| !held.transaction);
    if held.len() < before {
        wake_next(core);
    }
}

/// The connection of a session is over.
pub(super) fn release_all(core: &mut Core, id: SessionId) {
    let session = core.session_mut(id);
    session.wanted = None;
    session.named.clear();
    wake_next(core);
}

/// Whom a session that waits for a lock with a name waits for: whoever has it, and whoever stands
/// in line before it.
pub(super) fn holders(core: &Core, id: SessionId) -> Vec<SessionId> {
    let Some(wanted) = &core.session(id).wanted else {
        return Vec::new();
    };
    let has = |session: &Session| session.named.iter().any(|held| held.name == wanted.name);
    let before = |session: &Session| {
        let other = session.wanted.as_ref();
        other.is_some_and(|other| other.name == wanted.name && other.place < wanted.place)
    };
    core.sessions
        .iter()
        .filter(|(other, session)| **other != id && (has(session) || before(session)))
        .map(|(other, _)| *other)
        .collect()
}

fn holder(core: &Core, name: &str) -> Option<SessionId> {
    core.sessions
        .iter()
        .find(|(_, session)| session.named.iter().any(|held| *held.name == *name))
        .map(|(id, _)| *id)
}

/// Whoever waits, in the order in which they came.
fn in_line(core: &Core) -> Vec<(u64, SessionId)> {
    let waits = |(id, session): (&SessionId, &Session)| Some((session.wanted.as_ref()?.place, *id));
    let mut line: Vec<_> = core.sessions.iter().filter_map(waits).collect();
    line.sort_unstable();
    line
}

/// Whoever is first in line for a lock that nobody has looks again.
fn wake_next(core: &mut Core) {
    for (_, id) in in_line(core) {
        if holders(core, id).is_empty() {
            core.wake(id, Ok(()));
        }
    }
}
