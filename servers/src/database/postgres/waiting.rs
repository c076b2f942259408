//! Who waits for what: for the end of a transaction, for a place at a row, for an insert that may
//! still be taken back.
//!
//! Of several who want the same row the first waits for the transaction that has it and holds the
//! row's place meanwhile; the others wait for the place, one behind the other.

use super::super::core::{Core, Handle, wait};
use super::super::named;
use super::super::session::SessionId;
use super::Store;
use super::heap::{Mode, Tid};
use super::xids::Xid;
use scheduler::ports::Table;
use scheduler::ports::sql::{SqlError, WhenLocked};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;

/// A row, as whoever queues for it names it.
pub(super) type Place = (Table, Tid);

/// What a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// The end of a transaction.
    End(Xid),
    /// Its turn at a row.
    Turn(Place),
    /// That an INSERT ... ON CONFLICT is done with this version.
    Confirmation(Place),
}

/// A place in the queue at a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    place: Place,
    session: SessionId,
    mode: Mode,
    has_it: bool,
}

/// Waits until the transaction (or what was done since the savepoint) is over.
pub(super) async fn end_of(handle: &Handle, id: SessionId, xid: Xid) -> Result<(), SqlError> {
    loop {
        {
            let mut core = handle.borrow_mut();
            if !core.postgres.xids.is_running(xid) {
                return Ok(());
            }
            core.postgres.waits.push((id, For::End(xid)));
        }
        wait(handle, id).await?;
    }
}

/// Waits until an insert is confirmed or taken back.
pub(super) async fn confirmation(
    handle: &Handle,
    id: SessionId,
    place: Place,
) -> Result<(), SqlError> {
    let what = (id, For::Confirmation(place));
    handle.borrow_mut().postgres.waits.push(what);
    wait(handle, id).await
}

/// Waits for the session's turn at a row. False where it is not to wait and would have to.
pub(super) async fn turn(
    handle: &Handle,
    id: SessionId,
    place: Place,
    mode: Mode,
    when_locked: WhenLocked,
) -> Result<bool, SqlError> {
    {
        let mut core = handle.borrow_mut();
        let store = &mut core.postgres;
        if store.has_turn(id, place) {
            return Ok(true);
        }
        let free = store.ahead(id, place, mode).is_empty();
        match (free, when_locked) {
            (false, WhenLocked::Skip) => return Ok(false),
            (false, WhenLocked::Fail) => return Err(SqlError::LockNotAvailable),
            _ => {}
        }
        store.queue.push(Queued {
            place,
            session: id,
            mode,
            has_it: free,
        });
        if free {
            return Ok(true);
        }
        store.waits.push((id, For::Turn(place)));
    }
    wait(handle, id).await?;
    Ok(true)
}

/// Whoever goes on at the same moment may go first: whoever was woken by leaving the queue is as
/// quick as whoever left it.
pub(super) async fn overtaken(handle: &Handle, id: SessionId) {
    let mut yields = {
        let mut core = handle.borrow_mut();
        !core.runnable.is_empty() && core.choice.choose(2) == 1
    };
    poll_fn(|_| {
        if !std::mem::replace(&mut yields, false) {
            return Poll::Ready(());
        }
        handle.borrow_mut().runnable.push(id);
        Poll::Pending
    })
    .await;
}

impl Store {
    fn has_turn(&self, id: SessionId, place: Place) -> bool {
        self.queue
            .iter()
            .any(|queued| queued.session == id && queued.place == place && queued.has_it)
    }

    /// Who is at the row, or in front of the session in the queue, and does not go with it.
    fn ahead(&self, id: SessionId, place: Place, mode: Mode) -> Vec<SessionId> {
        let here = self.queue.iter().filter(|queued| queued.place == place);
        here.take_while(|queued| queued.session != id)
            .filter(|queued| queued.mode.conflicts(mode))
            .map(|queued| queued.session)
            .collect()
    }

    /// Takes the session out of every queue; gives those whose turn it is now.
    fn leave(&mut self, leaves: impl Fn(&Queued) -> bool) -> Vec<SessionId> {
        self.queue.retain(|queued| !leaves(queued));
        let mut turns = Vec::new();
        for n in 0..self.queue.len() {
            let queued = self.queue[n];
            let free = self
                .ahead(queued.session, queued.place, queued.mode)
                .is_empty();
            if !queued.has_it && free {
                self.queue[n].has_it = true;
                turns.push(queued.session);
            }
        }
        turns
    }
}

/// The session is done with a row; whoever is next in the queue goes on.
pub(super) fn done_with(core: &mut Core, id: SessionId, place: Place) {
    leave(core, |queued| queued.session == id && queued.place == place);
}

/// The statement is over, and with it every place that it had.
pub(super) fn done_with_all(core: &mut Core, id: SessionId) {
    core.postgres.waits.retain(|(session, _)| *session != id);
    leave(core, |queued| queued.session == id);
}

fn leave(core: &mut Core, leaves: impl Fn(&Queued) -> bool) {
    for next in core.postgres.leave(leaves) {
        let waits = &mut core.postgres.waits;
        waits.retain(|(session, _)| *session != next);
        core.wake(next, Ok(()));
    }
}

/// What was waited for has come: everybody who waited for it goes on.
pub(super) fn has_come(core: &mut Core, what: impl Fn(For) -> bool) {
    let (come, stay) = std::mem::take(&mut core.postgres.waits)
        .into_iter()
        .partition(|(_, for_what)| what(*for_what));
    core.postgres.waits = stay;
    let come: Vec<(SessionId, For)> = come;
    for (id, _) in come {
        core.wake(id, Ok(()));
    }
}

/// The sessions that a waiting session waits for, as `pg_blocking_pids` tells them.
pub(super) fn blockers(core: &Core, id: SessionId) -> Vec<SessionId> {
    let store = &core.postgres;
    let Some((_, what)) = store.waits.iter().find(|(session, _)| *session == id) else {
        return Vec::new();
    };
    let mut blockers: Vec<SessionId> = match *what {
        For::End(xid) => store.xids.session(xid).into_iter().collect(),
        For::Confirmation((table, tid)) => {
            let inserter = store.version(table, tid).map(|version| version.xmin);
            inserter
                .and_then(|xid| store.xids.session(xid))
                .into_iter()
                .collect()
        }
        For::Turn(place) => {
            let own = |queued: &&Queued| queued.session == id && queued.place == place;
            let mode = store.queue.iter().find(own).map(|queued| queued.mode);
            mode.map_or_else(Vec::new, |mode| store.ahead(id, place, mode))
        }
    };
    blockers.sort_unstable();
    blockers.dedup();
    blockers
}

/// Whether the session waits for somebody who, in the end, waits for it. Whoever looks first while
/// the circle exists ends it by giving up.
pub(super) fn is_deadlocked(core: &Core, id: SessionId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = waited_for(core, id);
    while let Some(session) = open.pop() {
        if session == id {
            return true;
        }
        if seen.insert(session) {
            open.extend(waited_for(core, session));
        }
    }
    false
}

fn waited_for(core: &Core, id: SessionId) -> Vec<SessionId> {
    match core.session(id).waiting {
        Some(waiting) if waiting.named => named::holders(core, id),
        Some(_) => blockers(core, id),
        None => Vec::new(),
    }
}
