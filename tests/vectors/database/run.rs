//! One run of a plan on a fresh model.
//!
//! The recorder worked step by step: a statement that had an answer gave it at once; one that the
//! server itself reported as waiting was looked at for a while ([`settle`]) and, if it still waited,
//! left waiting. So does this, on the model's own time.

use super::front_end::Prepared;
use super::judge::{Seen, judge, told};
use super::plan::{Action, Course, Move, Plan};
use scheduler::ports::sql::{Query, Reply, Setting, SqlError};
use servers::database::{Flavor, Server, SessionId, Status};
use servers::{Choice, Ms};
use std::collections::{BTreeMap, BTreeSet};

/// When the runs begin: 2026-01-01, after every time that a vector writes down.
const BEGINNING: Ms = 1_767_225_600_000;
/// How long a step takes beside its waiting.
const STEP: Ms = 1;
/// How long an answer is waited for before the step is given up.
const PATIENCE: Ms = 120_000;

/// For how long the recorder looked at a wait.
pub const fn settle(flavor: Flavor) -> Ms {
    match flavor {
        Flavor::Postgres => 400,
        Flavor::MariaDb => 250,
    }
}

/// Where a run differs from its course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// From 1; one more than there are steps: the final state; 0: the setup.
    pub step: usize,
    pub why: String,
}

/// Runs a course from an empty server; the choice decides the server's races.
pub fn run(plan: &Plan, course: &Course, choice: Box<dyn Choice>) -> Result<(), Difference> {
    let mut run = Run {
        plan,
        server: Server::with_choice(plan.flavor, choice),
        sessions: BTreeMap::new(),
        waiting: BTreeMap::new(),
        released: BTreeSet::new(),
        everywhere: Vec::new(),
        now: BEGINNING,
    };
    let at = |step: usize| move |why: String| Difference { step, why };
    run.set_up().map_err(at(0))?;
    for (index, step) in course.moves.iter().enumerate() {
        let (prepared, seen) = run.step(step).map_err(at(index + 1))?;
        judge(plan.flavor, &step.expect, prepared.as_ref(), &seen).map_err(at(index + 1))?;
        run.still_wait(step, &course.moves[index + 1..])
            .map_err(at(index + 1))?;
    }
    run.final_state(course).map_err(at(course.moves.len() + 1))
}

struct Run<'a> {
    plan: &'a Plan,
    server: Server,
    /// The sessions' present connections.
    sessions: BTreeMap<String, SessionId>,
    /// Statements that are waiting, or were and have an answer that nobody has fetched.
    waiting: BTreeMap<String, Prepared>,
    /// Those of them that may have their answer already.
    released: BTreeSet<String>,
    /// What was set for every session.
    everywhere: Vec<Setting>,
    now: Ms,
}

impl Run<'_> {
    fn set_up(&mut self) -> Result<(), String> {
        self.server.advance(self.now);
        let admin = self.server.connect();
        for prepared in &self.plan.setup {
            self.expect_done(admin, prepared, "the setup")?;
        }
        self.server.kill(self.now, admin);
        for session in &self.plan.sessions {
            self.connect(session)?;
        }
        Ok(())
    }

    fn connect(&mut self, session: &str) -> Result<(), String> {
        let id = self.server.connect();
        self.sessions.insert(session.to_owned(), id);
        let settings = self.everywhere.iter().chain(&self.plan.settings);
        for setting in settings.copied().collect::<Vec<_>>() {
            self.set(id, setting)?;
        }
        for prepared in &self.plan.init {
            self.expect_done(id, prepared, "the session's beginning")?;
        }
        Ok(())
    }

    fn set(&mut self, id: SessionId, setting: Setting) -> Result<(), String> {
        self.server.submit(self.now, id, Query::Set(setting));
        match self.server.take(id) {
            Some(Ok(_)) => Ok(()),
            other => Err(format!("a setting gives {other:?}")),
        }
    }

    fn expect_done(&mut self, id: SessionId, prepared: &Prepared, of: &str) -> Result<(), String> {
        match self.ask(id, prepared, None)? {
            Seen::Answer(Ok(_)) => Ok(()),
            other => Err(format!("{of}: {}", told(self.plan.flavor, &other))),
        }
    }

    /// Does a step. Gives the statement whose answer it is, and what was seen.
    fn step(&mut self, step: &Move) -> Result<(Option<Prepared>, Seen), String> {
        self.now += STEP;
        self.server.advance(self.now);
        let settle = step.settle.unwrap_or(settle(self.plan.flavor));
        let session = step.session.as_str();
        match &step.action {
            Action::Run(prepared) => {
                let id = self.connection(session)?;
                let patience = Some((settle, step.expect.blocks));
                let seen = self.ask(id, prepared, patience)?;
                if matches!(seen, Seen::Waits(_)) {
                    self.waiting
                        .insert(session.to_owned(), prepared.as_ref().clone());
                }
                Ok((Some(prepared.as_ref().clone()), seen))
            }
            Action::Await => {
                let id = self.connection(session)?;
                let Some(prepared) = self.waiting.remove(session) else {
                    return Err("it has nothing to wait for".to_owned());
                };
                let answer = self.answer(id)?;
                self.released.remove(session);
                Ok((Some(prepared), Seen::Answer(answer)))
            }
            Action::End => {
                let id = self.connection(session)?;
                self.server.kill(self.now, id);
                Ok((None, Seen::Nothing))
            }
            Action::Reconnect => {
                self.connect(session)?;
                Ok((None, Seen::Nothing))
            }
            Action::Sleep(ms) => {
                self.now += ms;
                self.server.advance(self.now);
                Ok((None, Seen::Nothing))
            }
            Action::CrashServer => {
                self.server.crash(self.now);
                Ok((None, Seen::Nothing))
            }
            Action::LoseReply(prepared) => {
                let id = self.connection(session)?;
                self.ask(id, prepared, None)?;
                self.server.kill(self.now, id);
                Ok((None, Seen::Answer(Err(SqlError::ConnectionLost))))
            }
            Action::LoseRequest => {
                let id = self.connection(session)?;
                self.server.kill(self.now, id);
                Ok((None, Seen::Answer(Err(SqlError::ConnectionLost))))
            }
        }
    }

    /// Gives a statement to the server and waits as the recorder did: as long as it takes, unless
    /// it waits for somebody for longer than `settle`. `waits`: whether it should, so that all of
    /// that time is to pass.
    fn ask(
        &mut self,
        id: SessionId,
        prepared: &Prepared,
        patience: Option<(Ms, bool)>,
    ) -> Result<Seen, String> {
        self.server.submit(self.now, id, prepared.query.clone());
        if let (true, Query::Set(setting)) = (prepared.everywhere, &prepared.query) {
            self.everywhere.push(*setting);
            for id in self.sessions.values().copied().collect::<Vec<_>>() {
                self.set(id, *setting)?;
            }
        }
        let (settle, waits) = patience.unwrap_or((PATIENCE, false));
        let until = self.now + settle;
        loop {
            let by = match self.server.status(id) {
                Status::Done if !waits => return self.answer(id).map(Seen::Answer),
                Status::Done => Vec::new(),
                Status::Idle => return Err("the statement is gone".to_owned()),
                Status::Waiting { by } => by,
            };
            let asleep = by.is_empty() && !waits;
            match self.server.next_deadline() {
                Some(at) if at <= until || asleep => self.pass(at),
                _ => break,
            }
        }
        self.pass(until);
        match self.server.status(id) {
            Status::Waiting { by } => Ok(Seen::Waits(self.names(&by))),
            _ => self.answer(id).map(Seen::Answer),
        }
    }

    fn pass(&mut self, until: Ms) {
        self.now = self.now.max(until);
        self.server.advance(self.now);
    }

    /// Waits for the answer of a session's statement.
    fn answer(&mut self, id: SessionId) -> Result<Result<Reply, SqlError>, String> {
        let until = self.now + PATIENCE;
        loop {
            if let Some(answer) = self.server.take(id) {
                return Ok(answer);
            }
            match (self.server.status(id), self.server.next_deadline()) {
                (Status::Waiting { .. }, Some(at)) if at <= until => self.pass(at),
                (Status::Waiting { by }, _) => {
                    return Err(format!("it still waits for {:?}", self.names(&by)));
                }
                _ => return Err("it has no answer".to_owned()),
            }
        }
    }

    /// A statement stays waiting until the step that releases it: the one before its answer is
    /// fetched, or an error that ends somebody's transaction before the client says ROLLBACK.
    fn still_wait(&mut self, done: &Move, ahead: &[Move]) -> Result<(), String> {
        let fetched: Vec<&str> = ahead
            .iter()
            .take_while(|step| matches!(step.action, Action::Await))
            .map(|step| step.session.as_str())
            .collect();
        let error = done.expect.error.as_deref();
        let ends = error.is_some_and(|error| ends_transaction(self.plan.flavor, error));
        for session in self.waiting.keys().cloned().collect::<Vec<_>>() {
            let id = self.connection(&session)?;
            if matches!(self.server.status(id), Status::Waiting { .. }) {
                continue;
            }
            if ends || fetched.contains(&session.as_str()) {
                self.released.insert(session.clone());
            } else if !self.released.contains(&session) {
                let seen = self.answer(id).map(Seen::Answer)?;
                let told = told(self.plan.flavor, &seen);
                return Err(format!("{session} should still wait, but is done: {told}"));
            }
        }
        Ok(())
    }

    fn final_state(&mut self, course: &Course) -> Result<(), String> {
        let Some((prepared, expected)) = &course.final_state else {
            return Ok(());
        };
        let id = self.server.connect();
        let expect = super::plan::Expect {
            rows: Some(expected.clone()),
            ..Default::default()
        };
        let seen = self.ask(id, prepared, None)?;
        judge(self.plan.flavor, &expect, Some(prepared), &seen)
    }

    fn connection(&self, session: &str) -> Result<SessionId, String> {
        self.sessions
            .get(session)
            .copied()
            .ok_or_else(|| format!("there is no session {session}"))
    }

    fn names(&self, ids: &[SessionId]) -> Vec<String> {
        let name = |id: &SessionId| {
            let named = self.sessions.iter().find(|(_, present)| *present == id);
            named.map_or_else(|| "somebody else".to_owned(), |(name, _)| name.clone())
        };
        ids.iter().map(name).collect()
    }
}

/// Whether an error is the end of the transaction, and of its locks. In PostgreSQL each is; in
/// MariaDB most undo the statement only.
fn ends_transaction(flavor: Flavor, error: &str) -> bool {
    match flavor {
        Flavor::Postgres => true,
        Flavor::MariaDb => matches!(error, "1213" | "1020" | "2006" | "2013"),
    }
}
