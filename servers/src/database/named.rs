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
                core.session_mut(id).named.push(Held { name, transaction });
                return Ok(true);
            }
            if wait == Some(0) {
                return Ok(false);
            }
            let now = core.now;
            core.session_mut(id).waiting = Some(Waiting {
                until: wait.map(|wait| now + wait),
                check_at: None,
                named: true,
            });
        }
        match signalled(handle, id).await {
            Ok(()) => {}
            Err(SqlError::LockTimeout) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
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

/// Whom a session that waits for a lock with a name waits for. (It waits for one lock at a time;
/// whoever holds any lock with a name might be it, so the name is kept by the statement.)
pub(super) fn holders(core: &Core, id: SessionId) -> Vec<SessionId> {
    core.sessions
        .iter()
        .filter(|(other, session)| **other != id && !session.named.is_empty())
        .map(|(other, _)| *other)
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
