//! The workbench of the unit tests: one instance over in-memory ports that can be told to fail.
#![allow(clippy::unwrap_used)]

use super::{
    ManualRuntime, ManualTime, MemoryBroker, MemoryCoordinator, MemoryDatabase, MemoryDownstream,
    MemoryJournal, MemoryLocks, Recognises, block_on, lock,
};
use crate::guards::{
    Entry, Guard, GuardConfig, GuardContext, Outcome, Permit, Settle, Visit, state_of,
};
use crate::ports::{
    Answers, At, CallError, Database, Downstream, Fut, Isolation, Key, LockKey, LockService, Ports,
    Reply, Request, Row, Statements, Token, Transaction, Value,
};
use crate::tables::{EFFECTS, RUNS, runs};
use crate::{Instance, Span};
use evidence::{Ids, InstanceId, RecordState, Slot, SlotTag, TraceId, What};
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// One thing that goes wrong with a coming call.
#[derive(Clone, Copy)]
enum Mishap {
    /// The server does it, and the caller never hears.
    LostReply,
    /// The server never hears.
    LostRequest,
    /// The server says no.
    Refused,
}

/// What goes wrong with the coming calls, one entry a call.
#[derive(Default)]
struct Mishaps(Mutex<Vec<Option<Mishap>>>);

impl Mishaps {
    fn next(&self) -> Option<Mishap> {
        let mut row = lock(&self.0);
        if row.is_empty() { None } else { row.remove(0) }
    }

    fn plan(&self, after: usize, mishap: Mishap) {
        let mut row = lock(&self.0);
        row.resize(after, None);
        row.push(Some(mishap));
    }

    /// Makes the call, unless something goes wrong with it; every call takes one turn of the
    /// executor, so that two tasks can be interleaved.
    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let mut turned = false;
        poll_fn(|context| {
            if std::mem::replace(&mut turned, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        match self.next() {
            None => call.await,
            Some(Mishap::LostReply) => call.await.and(Err(CallError::TimedOut)),
            Some(Mishap::LostRequest) => Err(CallError::TimedOut),
            Some(Mishap::Refused) => Err(CallError::Refused),
        }
    }
}

/// A port whose calls can be told to fail.
pub(crate) struct Flaky<P> {
    port: P,
    mishaps: Mishaps,
}

impl<P> Flaky<P> {
    fn new(port: P) -> Arc<Self> {
        Arc::new(Flaky {
            port,
            mishaps: Mishaps::default(),
        })
    }

    pub(crate) fn lose_next_reply(&self) {
        self.mishaps.plan(0, Mishap::LostReply);
    }

    pub(crate) fn lose_next_request(&self) {
        self.mishaps.plan(0, Mishap::LostRequest);
    }

    pub(crate) fn refuse_next(&self) {
        self.refuse_after(0);
    }

    /// Refuses the call after the next `calls`.
    pub(crate) fn refuse_after(&self, calls: usize) {
        self.mishaps.plan(calls, Mishap::Refused);
    }
}

impl Database for Flaky<MemoryDatabase> {
    fn execute<'a>(
        &'a self,
        at: At<'a>,
        statements: Statements,
    ) -> Fut<'a, Result<Answers, CallError>> {
        Box::pin(self.mishaps.call(self.port.execute(at, statements)))
    }

    fn begin(&self, isolation: Isolation) -> Box<dyn Transaction> {
        self.port.begin(isolation)
    }
}

impl LockService for Flaky<MemoryLocks> {
    fn set_if_absent<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Option<Span>,
    ) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.set_if_absent(at, key, token, ttl).await }),
        )
    }

    fn set_if_present<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.set_if_present(at, key, token, ttl).await }),
        )
    }

    fn get<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
    ) -> Fut<'a, Result<Option<Token>, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.get(at, key).await }),
        )
    }

    fn expire<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.expire(at, key, owner, ttl).await }),
        )
    }

    fn delete<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
    ) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.delete(at, key, owner).await }),
        )
    }
}

impl Downstream for Flaky<MemoryDownstream> {
    fn perform<'a>(
        &'a self,
        at: At<'a>,
        request: Request,
        timeout: Span,
    ) -> Fut<'a, Result<Reply, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.perform(at, request, timeout).await }),
        )
    }

    fn lookup<'a>(&'a self, at: At<'a>, key: &'a Arc<str>) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(
            self.mishaps
                .call(async move { self.port.lookup(at, key).await }),
        )
    }
}

/// One instance, one run, and everything that a guard or a protection is asked about it.
pub(crate) struct Bench {
    pub(crate) database: Arc<Flaky<MemoryDatabase>>,
    pub(crate) locks: Arc<Flaky<MemoryLocks>>,
    pub(crate) downstream: Arc<Flaky<MemoryDownstream>>,
    pub(crate) instance: Instance,
    pub(crate) runtime: Arc<ManualRuntime>,
    journal: Arc<MemoryJournal>,
    /// The instance's own clock; the servers have another.
    wall: Arc<ManualTime>,
    servers: Arc<ManualTime>,
    pub(crate) ids: Ids,
    pub(crate) key: Key,
}

/// `[work.retry] max_attempts` on the workbench.
pub(crate) const MAX_ATTEMPTS: u32 = 3;

impl Bench {
    pub(crate) fn new() -> Self {
        Self::over(Recognises::Nothing)
    }

    pub(crate) fn over(recognises: Recognises) -> Self {
        let (wall, servers) = (Arc::<ManualTime>::default(), Arc::<ManualTime>::default());
        let runtime = Arc::new(ManualRuntime::new(wall.clone()));
        let journal = Arc::new(MemoryJournal::new(wall.clone(), InstanceId(0), 1));
        let database = Flaky::new(MemoryDatabase::new(servers.clone()));
        let locks = Flaky::new(MemoryLocks::new(servers.clone()));
        let downstream = Flaky::new(MemoryDownstream::new(journal.clone(), recognises));
        let broker = Arc::new(MemoryBroker::new(runtime.clone(), journal.clone()));
        let instance = Instance {
            name: "executor-1".into(),
            id: InstanceId(0),
            incarnation: 1,
            identity: None,
            ports: Ports {
                runtime: runtime.clone(),
                clock: wall.clone(),
                journal: journal.clone(),
                database: database.clone(),
                broker,
                locks: locks.clone(),
                coordinator: Arc::new(MemoryCoordinator::default()),
                downstream: downstream.clone(),
                executors: Arc::new(super::NoExecutors),
            },
        };
        let run: evidence::RunKey = "report@2026-01-01T02:00:00.000Z".parse().unwrap();
        let key = run.text().clone();
        let ids = Ids {
            slot: SlotTag::seal(Slot {
                timer: 0,
                ordinal: 1,
            }),
            run: Some(run),
            trace: Some(TraceId(7)),
            delivery: 1,
            ..Ids::default()
        };
        Bench {
            database,
            locks,
            downstream,
            instance,
            runtime,
            journal,
            wall,
            servers,
            ids,
            key,
        }
    }

    pub(crate) fn ports(&self) -> &Ports {
        &self.instance.ports
    }

    pub(crate) fn guard(&self, config: &GuardConfig) -> Box<dyn Guard> {
        config.build(&GuardContext {
            instance: &self.instance,
            max_attempts: MAX_ATTEMPTS,
        })
    }

    pub(crate) fn visit(&self, token: u64) -> Visit<'_> {
        Visit {
            ids: &self.ids,
            key: &self.key,
            token,
        }
    }

    pub(crate) fn try_enter(&self, guard: &dyn Guard, token: u64) -> Result<Entry, CallError> {
        block_on(guard.enter(self.visit(token)))
    }

    pub(crate) fn enter(&self, guard: &dyn Guard, token: u64) -> Entry {
        self.try_enter(guard, token).unwrap()
    }

    /// Enters where the guard lets it.
    pub(crate) fn run(&self, guard: &dyn Guard, token: u64) -> Permit {
        match self.enter(guard, token) {
            Entry::Run(permit) => permit,
            other => panic!("not let in: {other:?}"),
        }
    }

    pub(crate) fn try_finish(
        &self,
        guard: &dyn Guard,
        token: u64,
        permit: &Permit,
        outcome: Outcome,
    ) -> Result<Settle, CallError> {
        block_on(guard.finish(self.visit(token), permit, outcome))
    }

    pub(crate) fn finish(
        &self,
        guard: &dyn Guard,
        token: u64,
        permit: &Permit,
        outcome: Outcome,
    ) -> Settle {
        self.try_finish(guard, token, permit, outcome).unwrap()
    }

    /// What keeps the permit alive, asleep already.
    pub(crate) fn hold<'a>(
        &'a self,
        guard: &'a dyn Guard,
        token: u64,
        permit: &'a Permit,
    ) -> Option<Fut<'a, ()>> {
        let mut hold = guard.hold(self.visit(token), permit)?;
        assert!(!poll(&mut hold));
        Some(hold)
    }

    /// Time passes, and the holder goes on; true if it has ended.
    pub(crate) fn advance(&self, hold: &mut Fut<'_, ()>, span: Span) -> bool {
        self.pass(span);
        poll(hold)
    }

    /// Time passes everywhere.
    pub(crate) fn pass(&self, span: Span) {
        self.servers.advance(span);
        self.runtime.advance(span);
    }

    /// The instance's wall clock is set forward.
    pub(crate) fn skew_ms(&self, ms: i64) {
        self.wall.step_ms(ms);
    }

    /// What the journal was told, in order.
    pub(crate) fn told(&self) -> Vec<What> {
        let events = self.journal.events().into_iter();
        events.map(|event| event.what).collect()
    }

    /// The rows of a table.
    pub(crate) fn rows(&self, table: crate::ports::Table) -> Vec<Row> {
        self.database.port.rows(table)
    }

    /// The instance as a guard or a claim is built for it.
    pub(crate) const fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The instance is asked to stop.
    pub(crate) fn stop(&self) {
        self.runtime.stop();
    }

    /// The run's row.
    pub(crate) fn record(&self) -> Option<RunRow> {
        self.database.port.rows(RUNS).first().map(RunRow::of)
    }

    /// How many effects are in the database.
    pub(crate) fn rows_of_effects(&self) -> usize {
        self.database.port.rows(EFFECTS).len()
    }

    /// How many effects the downstream has seen.
    pub(crate) fn effects(&self) -> usize {
        self.downstream.port.ledger().len()
    }
}

/// Polls as long as turns are taken; true if it has ended.
fn poll(future: &mut Fut<'_, ()>) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    (0..10).any(|_| future.as_mut().poll(&mut context).is_ready())
}

/// A row of the table of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunRow {
    pub(crate) state: Option<RecordState>,
    pub(crate) attempt: i64,
    pub(crate) owner: i64,
    pub(crate) until: Option<i64>,
}

impl RunRow {
    fn of(row: &Row) -> Self {
        let cell = |column: crate::ports::Column| &row.cells[usize::from(column.0)];
        RunRow {
            state: state_of(cell(runs::STATE).int()),
            attempt: cell(runs::ATTEMPT).int(),
            owner: cell(runs::OWNER).int(),
            until: match cell(runs::UNTIL) {
                Value::Int(ms) => Some(*ms),
                _ => None,
            },
        }
    }
}

/// Two visits that enter at the same moment, turn by turn, tokens 1 and 2.
pub(crate) fn interleaved(bench: &Bench, guard: &dyn Guard) -> (Entry, Entry) {
    let mut context = Context::from_waker(Waker::noop());
    let mut visits = [1, 2].map(|token| (guard.enter(bench.visit(token)), None));
    while visits.iter().any(|(_, entry)| entry.is_none()) {
        for (visit, entry) in &mut visits {
            if entry.is_none()
                && let Poll::Ready(answer) = visit.as_mut().poll(&mut context)
            {
                *entry = Some(answer.unwrap());
            }
        }
    }
    let [(_, one), (_, other)] = visits;
    (one.unwrap(), other.unwrap())
}
