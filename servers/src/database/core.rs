//! What every statement shares: sessions, tables, the clock, who waits and who goes next.

use super::engine::{Engine, Flavor};
use super::session::{Session, SessionId, Waiting};
use super::{innodb, postgres};
use crate::broken::{self, Broken};
use crate::{Choice, Ms};
use scheduler::ports::Table;
use scheduler::ports::sql::{SqlError, TableDef};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// The state of a server, as its statements hold it: borrowed for a moment, never across a wait.
pub(super) type Handle = Rc<RefCell<Core>>;

pub(super) struct Core {
    pub(super) flavor: Flavor,
    pub(super) now: Ms,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    /// The tables' definitions.
    pub(super) tables: BTreeMap<Table, TableDef>,
    /// Sessions whose statements can go on, in the order in which they were woken.
    pub(super) runnable: Vec<SessionId>,
    pub(super) choice: Box<dyn Choice>,
    /// Those that can go on do so in turn, until all of them are done or wait.
    pub(super) in_step: bool,
    /// How often a session was woken.
    pub(super) turns: u64,
    /// The rows, versions and locks of the flavor; the other one stays empty.
    pub(super) postgres: postgres::Store,
    pub(super) innodb: innodb::Store,
}

impl Core {
    pub(super) fn engine(&self) -> &'static dyn Engine {
        self.flavor.engine()
    }

    /// The session; every session that a statement names is there while the statement runs.
    pub(super) fn session(&self, id: SessionId) -> &Session {
        &self.sessions[&id]
    }

    pub(super) fn session_mut(&mut self, id: SessionId) -> &mut Session {
        self.sessions
            .get_mut(&id)
            .expect("a statement's session is open while it runs")
    }

    /// The wait of a session is over, in one way or the other.
    pub(super) fn wake(&mut self, id: SessionId, result: Result<(), SqlError>) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if session.waiting.take().is_some() {
            session.signal = Some(result);
            self.turns += 1;
            session.turn = self.turns;
            self.runnable.push(id);
        }
    }
}

/// Waits until [`Core::wake`]; the caller has entered the session in the queue that it waits in.
/// How long it waits at most is the session's setting.
pub(super) async fn wait(handle: &Handle, id: SessionId) -> Result<(), SqlError> {
    {
        let mut core = handle.borrow_mut();
        let now = core.now;
        let check = core.flavor == Flavor::Postgres;
        let session = core.session_mut(id);
        let check_after = if broken::is(Broken::PostgresCloserIsVictim) {
            0
        } else {
            session.settings.deadlock_check
        };
        session.signal = None;
        session.waiting = Some(Waiting {
            until: session.settings.lock_wait.map(|wait| now + wait),
            check_at: check.then_some(now + check_after),
            named: false,
        });
    }
    signalled(handle, id).await
}

/// Waits for the signal of a wait that is entered already.
pub(super) async fn signalled(handle: &Handle, id: SessionId) -> Result<(), SqlError> {
    poll_fn(
        |_| match handle.borrow_mut().session_mut(id).signal.take() {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        },
    )
    .await
}

/// A place where two sessions that were woken together may meet: a real server runs them at once.
///
/// Who goes first decides most races. Beyond that there is one more thing that was seen: the session
/// that was woken last goes first, the one before it catches up, and from then on both go step by
/// step, in turn. A session that was woken first and goes first is not caught up with: it has its
/// head start and the first step. (Of 66 recordings of A1g none shows that; the 4 that show a meeting
/// all had the last one ahead.)
pub(super) async fn race(handle: &Handle, id: SessionId) {
    let yields = {
        let mut core = handle.borrow_mut();
        let core = &mut *core;
        let turn = core.session(id).turn;
        let earlier = |other: &SessionId| core.sessions.get(other).is_some_and(|s| s.turn < turn);
        if core.in_step {
            !core.runnable.is_empty()
        } else if core.runnable.iter().any(earlier) && core.choice.choose(2) == 1 {
            core.in_step = true;
            true
        } else {
            false
        }
    };
    if !yields {
        return;
    }
    let mut yielded = false;
    poll_fn(|_| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        handle.borrow_mut().runnable.push(id);
        Poll::Pending
    })
    .await;
}
