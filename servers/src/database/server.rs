//! A server, as whoever drives it sees it.

use super::core::{Core, Handle};
use super::engine::{Flavor, Running};
use super::named;
use super::session::{Session, SessionId};
use super::{evaluate, innodb, postgres};
use crate::{Choice, First, Ms};
use scheduler::ports::sql::{Query, Reply, Setting, SqlError, Tag};
use scheduler::ports::{Table, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Where a session's statement stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// No statement is at work, and none has an answer to fetch.
    Idle,
    /// It waits for these sessions.
    Waiting {
        /// Whom it waits for, ascending.
        by: Vec<SessionId>,
    },
    /// The answer is there to be fetched.
    Done,
}

/// A database server.
pub struct Server {
    core: Handle,
    running: BTreeMap<SessionId, Running>,
    done: BTreeMap<SessionId, Result<Reply, SqlError>>,
    next_session: u32,
}

impl Server {
    /// A server without tables, whose races always go to whoever has waited longest.
    pub fn new(flavor: Flavor) -> Self {
        Server::with_choice(flavor, Box::new(First))
    }

    /// A server whose races somebody else decides.
    pub fn with_choice(flavor: Flavor, choice: Box<dyn Choice>) -> Self {
        let core = Core {
            flavor,
            now: 0,
            sessions: BTreeMap::new(),
            tables: BTreeMap::new(),
            runnable: Vec::new(),
            choice,
            in_step: false,
            turns: 0,
            postgres: postgres::Store::default(),
            innodb: innodb::Store::default(),
        };
        Server {
            core: Rc::new(RefCell::new(core)),
            running: BTreeMap::new(),
            done: BTreeMap::new(),
            next_session: 0,
        }
    }

    /// Which server is modelled.
    pub fn flavor(&self) -> Flavor {
        self.core.borrow().flavor
    }

    /// A new connection, with the server's default settings.
    pub fn connect(&mut self) -> SessionId {
        let mut core = self.core.borrow_mut();
        let id = SessionId(self.next_session);
        self.next_session += 1;
        let session = Session::new(core.flavor, core.now);
        core.sessions.insert(id, session);
        id
    }

    /// A statement arrives. Statements of one session come one after the other: while one is at
    /// work the next is refused with [`SqlError::ConnectionLost`].
    pub fn submit(&mut self, now: Ms, id: SessionId, query: Query) {
        self.advance(now);
        if self.running.contains_key(&id) || self.closed(id) {
            self.done.insert(id, Err(SqlError::ConnectionLost));
            return;
        }
        self.done.remove(&id);
        if let Err(error) = self.begin_statement(id, &query) {
            self.finish(id, Err(error));
            return;
        }
        let running = self.start(id, query);
        self.running.insert(id, running);
        self.core.borrow_mut().runnable.push(id);
        self.pump();
    }

    /// Whether the server has closed the connection, or never opened it. A client is told why once.
    fn closed(&mut self, id: SessionId) -> bool {
        let core = self.core.borrow();
        core.sessions
            .get(&id)
            .is_none_or(|session| session.closed.is_some())
    }

    fn begin_statement(&mut self, id: SessionId, query: &Query) -> Result<(), SqlError> {
        let mut core = self.core.borrow_mut();
        let engine = core.engine();
        let now = core.now;
        let session = core.session_mut(id);
        session.statement_at = now;
        if !session.in_transaction {
            session.transaction_at = now;
            session.isolation = session.settings.isolation;
        }
        engine.admits(&core, id, query)?;
        engine.begins(&mut core, id, query);
        Ok(())
    }

    fn start(&self, id: SessionId, query: Query) -> Running {
        let handle = Rc::clone(&self.core);
        match query {
            Query::Set(setting) => {
                set(&mut handle.borrow_mut(), id, setting);
                Box::pin(std::future::ready(Ok(Reply::done(Tag::Set))))
            }
            Query::Named(lock) => Box::pin(named::run(handle, id, lock)),
            Query::Values(values) => Box::pin(evaluate::values(handle, id, values)),
            query => handle.borrow().engine().run(Rc::clone(&handle), id, query),
        }
    }

    /// Time passes: what is due happens, in the order of its time.
    pub fn advance(&mut self, now: Ms) {
        while let Some(at) = self.next_deadline().filter(|at| *at <= now) {
            {
                let mut core = self.core.borrow_mut();
                core.now = core.now.max(at);
            }
            self.fire_due();
            self.pump();
        }
        let mut core = self.core.borrow_mut();
        core.now = core.now.max(now);
    }

    /// When something next happens by itself: a wait that ends, a check, a connection cut.
    pub fn next_deadline(&self) -> Option<Ms> {
        let core = self.core.borrow();
        core.sessions
            .iter()
            .filter_map(|(id, session)| self.deadline_of(*id, session))
            .min()
    }

    fn deadline_of(&self, id: SessionId, session: &Session) -> Option<Ms> {
        if let Some(waiting) = &session.waiting {
            return [waiting.until, waiting.check_at]
                .into_iter()
                .flatten()
                .min();
        }
        if session.closed.is_some() || self.running.contains_key(&id) {
            return None;
        }
        let in_transaction = session
            .settings
            .idle_in_transaction
            .filter(|_| session.in_transaction);
        let idle = [in_transaction, session.settings.idle_session];
        idle.into_iter()
            .flatten()
            .min()
            .map(|after| session.idle_since + after)
    }

    /// The session that is due first; of several at the same moment the choice takes one.
    fn next_due(&self) -> Option<SessionId> {
        let mut core = self.core.borrow_mut();
        let now = core.now;
        let mut due: Vec<(Ms, SessionId)> = core
            .sessions
            .iter()
            .filter_map(|(id, session)| Some((self.deadline_of(*id, session)?, *id)))
            .filter(|(at, _)| *at <= now)
            .collect();
        due.sort_unstable();
        let first = due.first()?.0;
        due.retain(|(at, _)| *at == first);
        let chosen = match due.len() {
            1 => 0,
            several => core.choice.choose(several),
        };
        due.get(chosen).map(|(_, id)| *id)
    }

    /// The one session that is due first does what is due.
    fn fire_due(&mut self) {
        let Some(id) = self.next_due() else { return };
        let now = self.core.borrow().now;
        let mut core = self.core.borrow_mut();
        let engine = core.engine();
        let session = core.session_mut(id);
        match &mut session.waiting {
            Some(waiting) if waiting.check_at.is_some_and(|at| at <= now) => {
                waiting.check_at = None;
                let named = waiting.named;
                if engine.is_deadlocked(&core, id) {
                    if !named {
                        engine.stop_waiting(&mut core, id);
                    }
                    core.wake(id, Err(SqlError::Deadlock));
                }
            }
            Some(waiting) => {
                if !waiting.named {
                    engine.stop_waiting(&mut core, id);
                }
                core.wake(id, Err(SqlError::LockTimeout));
            }
            None => {
                let why = if session.in_transaction {
                    SqlError::IdleInTransaction
                } else {
                    SqlError::ConnectionLost
                };
                drop(core);
                self.close(id, why);
            }
        }
    }

    /// Where the session's statement stands.
    pub fn status(&self, id: SessionId) -> Status {
        if self.done.contains_key(&id) {
            return Status::Done;
        }
        if !self.running.contains_key(&id) {
            return Status::Idle;
        }
        let core = self.core.borrow();
        let named = core
            .session(id)
            .waiting
            .is_some_and(|waiting| waiting.named);
        let by = if named {
            named::holders(&core, id)
        } else {
            core.engine().blockers(&core, id)
        };
        Status::Waiting { by }
    }

    /// The answer of the session's last statement, once.
    pub fn take(&mut self, id: SessionId) -> Option<Result<Reply, SqlError>> {
        self.done.remove(&id)
    }

    /// The server ends a connection (KILL, pg_terminate_backend), or sees that its client is gone:
    /// what its transaction did is undone.
    pub fn kill(&mut self, now: Ms, id: SessionId) {
        self.advance(now);
        self.close(id, SqlError::ConnectionLost);
    }

    fn close(&mut self, id: SessionId, why: SqlError) {
        let was_running = self.running.remove(&id).is_some();
        {
            let mut core = self.core.borrow_mut();
            if !core.sessions.contains_key(&id) {
                return;
            }
            let engine = core.engine();
            if core.session(id).waiting.is_some() {
                engine.stop_waiting(&mut core, id);
            }
            engine.abandon(&mut core, id);
            core.runnable.retain(|runnable| *runnable != id);
            let session = core.session_mut(id);
            session.waiting = None;
            session.in_transaction = false;
            session.closed = Some(why);
            named::release_all(&mut core, id);
        }
        if was_running {
            self.done.insert(id, Err(why));
        }
        self.pump();
    }

    /// The server stops without warning and starts again: every connection is gone, and with it
    /// every transaction; commits that were not on disk are lost.
    pub fn crash(&mut self, now: Ms) {
        self.advance(now);
        let ids: Vec<SessionId> = self.core.borrow().sessions.keys().copied().collect();
        self.running.clear();
        let mut core = self.core.borrow_mut();
        core.runnable.clear();
        let engine = core.engine();
        for id in ids {
            let session = core.session_mut(id);
            session.waiting = None;
            session.in_transaction = false;
            session.wanted = None;
            session.named.clear();
            session.closed = Some(SqlError::ConnectionLost);
        }
        engine.crash(&mut core);
    }

    /// The rows of a table that are committed, each with all its columns.
    pub fn committed(&self, table: Table) -> Vec<Vec<Value>> {
        let core = self.core.borrow();
        core.engine().committed(&core, table)
    }

    /// For tests of an engine's own state.
    #[cfg(test)]
    pub(super) fn core_of_a_test(&self) -> std::cell::Ref<'_, Core> {
        self.core.borrow()
    }

    /// Runs whoever can go on until everybody waits or is done.
    fn pump(&mut self) {
        loop {
            let next = {
                let mut core = self.core.borrow_mut();
                let core = &mut *core;
                match core.runnable.len() {
                    0 => {
                        core.in_step = false;
                        return;
                    }
                    1 => core.runnable.remove(0),
                    _ if core.in_step => core.runnable.remove(0),
                    several => {
                        let chosen = core.choice.choose(several);
                        core.runnable.remove(chosen)
                    }
                }
            };
            let Some(running) = self.running.get_mut(&next) else {
                continue;
            };
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = running.as_mut().poll(&mut context) {
                self.running.remove(&next);
                self.finish(next, result);
            }
        }
    }

    fn finish(&mut self, id: SessionId, result: Result<Reply, SqlError>) {
        let mut core = self.core.borrow_mut();
        let now = core.now;
        core.session_mut(id).idle_since = now;
        if result.is_err() {
            let engine = core.engine();
            engine.fails(&mut core, id);
        }
        drop(core);
        self.done.insert(id, result);
    }
}

fn set(core: &mut Core, id: SessionId, setting: Setting) {
    let session = core.session_mut(id);
    let settings = &mut session.settings;
    match setting {
        Setting::LockWait(wait) => settings.lock_wait = wait,
        Setting::IdleInTransaction(after) => settings.idle_in_transaction = after,
        Setting::IdleSession(after) => settings.idle_session = after,
        Setting::DeadlockCheck(after) => settings.deadlock_check = after,
        Setting::SnapshotIsolation(on) => settings.snapshot_isolation = on,
        Setting::FoundRows(on) => settings.found_rows = on,
        Setting::Durable(on) => settings.durable = on,
        Setting::Isolation(isolation) => {
            settings.isolation = isolation;
            if !session.in_transaction {
                session.isolation = isolation;
            }
        }
        Setting::Autocommit(on) => settings.autocommit = on,
        Setting::Nothing => {}
    }
}
