//! Locks that have a name and no row: GET_LOCK, advisory locks.
//!
//! They belong to the session (or, where asked, to its transaction), may be taken again by who has
//! them, survive COMMIT and ROLLBACK, and go with the connection.

use super::core::{Core, Handle, signalled};
use super::engine::Flavor;
use super::session::{SessionId, Waiting};
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
    loop {
        {
            let mut core = handle.borrow_mut();
            if holder(&core, &name).is_none_or(|holder| holder == id) {
                let session = core.session_mut(id);
                // Without BEGIN the transaction is over with the statement, and so is the lock.
                if session.in_transaction || !transaction {
                    session.named.push(Held { name, transaction });
                }
                return Ok(true);
            }
            if wait == Some(0) {
                return Ok(false);
            }
            enter(&mut core, id, Arc::clone(&name), wait);
        }
        let signal = signalled(handle, id).await;
        let mut core = handle.borrow_mut();
        core.session_mut(id).wants = None;
        match signal {
            Ok(()) => {}
            Err(SqlError::LockTimeout) if core.flavor == Flavor::MariaDb => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// The session begins to wait. PostgreSQL counts such a wait as it does one for a row: it ends
/// with `lock_timeout`, and may be part of a deadlock.
fn enter(core: &mut Core, id: SessionId, name: Arc<str>, wait: Option<u64>) {
    let now = core.now;
    let postgres = core.flavor == Flavor::Postgres;
    let session = core.session_mut(id);
    let wait = if postgres {
        wait.or(session.settings.lock_wait)
    } else {
        wait
    };
    session.wants = Some(name);
    session.waiting = Some(Waiting {
        until: wait.map(|wait| now + wait),
        check_at: postgres.then_some(now + session.settings.deadlock_check),
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
    wake_waiting(core);
    Value::Int(1)
}

/// The transaction of a session is over.
pub(super) fn end_transaction(core: &mut Core, id: SessionId) {
    let held = &mut core.session_mut(id).named;
    let before = held.len();
    held.retain(|held| !held.transaction);
    if held.len() < before {
        wake_waiting(core);
    }
}

/// The connection of a session is over.
pub(super) fn release_all(core: &mut Core, id: SessionId) {
    if !std::mem::take(&mut core.session_mut(id).named).is_empty() {
        wake_waiting(core);
    }
}

/// Whom a session that waits for a lock with a name waits for.
pub(super) fn holders(core: &Core, id: SessionId) -> Vec<SessionId> {
    let wants = core.session(id).wants.as_deref();
    wants
        .and_then(|name| holder(core, name))
        .into_iter()
        .collect()
}

fn holder(core: &Core, name: &str) -> Option<SessionId> {
    core.sessions
        .iter()
        .find(|(_, session)| session.named.iter().any(|held| *held.name == *name))
        .map(|(id, _)| *id)
}

/// Everybody who waits looks again.
fn wake_waiting(core: &mut Core) {
    let waiting: Vec<SessionId> = core
        .sessions
        .iter()
        .filter(|(_, session)| session.waiting.is_some_and(|waiting| waiting.named))
        .map(|(id, _)| *id)
        .collect();
    for id in waiting {
        core.wake(id, Ok(()));
    }
}
