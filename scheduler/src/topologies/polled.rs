//! `polled`: workers claim due rows of the database.
//!
//! With rows of timers a worker claims the timer's row and executes the run in process, as Quartz
//! does: who claims it again fires it again. With rows of runs every worker also carries the timers
//! and puts each due run into a table, from which the workers claim it, as River or db-scheduler
//! do: who claims it again has another delivery of it.

use super::{Blueprint, queued};
use crate::dispatch::{self, ClaimConfig, Fire};
use crate::executor::Executor;
use crate::permits::Permits;
use crate::ports::{At, Condition, Expr, Interest, Row, Statement, Statements, Test, Wake};
use crate::recovery::Requeue;
use crate::row_queue::{RowQueue, RowQueueConfig};
use crate::tables::{TIMERS, timers};
use crate::timer::fire_due;
use crate::{Instance, Span, steps};
use evidence::{Ids, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `[topology] rows`: what the rows are that workers claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// Timers, each with the slot that is due next (Quartz). A second claim is a new firing.
    #[default]
    Timers,
    /// Runs, put there when they are due (River, Oban, db-scheduler, good_job). A second claim is a
    /// delivery.
    Runs,
}

/// What the workers of `polled` do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolledConfig {
    /// What they claim.
    pub rows: Rows,
    /// How often each of them looks for rows.
    pub poll: Span,
    /// What a queue of rows of runs promises.
    pub queue: RowQueueConfig,
}

impl Default for PolledConfig {
    fn default() -> Self {
        PolledConfig {
            rows: Rows::Timers,
            poll: Span::secs(1),
            queue: RowQueueConfig::default(),
        }
    }
}

/// Starts a worker. `fire_offset_ms` is how much later than planned its timers fire, where it
/// carries any.
pub(super) fn start(instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    match blueprint.polled.rows {
        Rows::Timers => start_of_timers(instance, blueprint),
        Rows::Runs => start_of_runs(instance, blueprint, fire_offset_ms),
    }
}

fn start_of_runs(instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    let PolledConfig { poll, queue, .. } = blueprint.polled;
    let mut instance = instance.clone();
    instance.ports.broker = Arc::new(RowQueue::new(instance.ports.clone(), queue, poll));
    let dispatcher = blueprint.dispatcher(&instance).into_rows();
    queued::start_timers(&instance, blueprint, &Arc::new(dispatcher), fire_offset_ms);
    queued::start_executor(&instance, blueprint);
}

fn start_of_timers(instance: &Instance, blueprint: &Arc<Blueprint>) {
    let worker = Arc::new(Worker {
        instance: instance.clone(),
        blueprint: blueprint.clone(),
        executor: blueprint.executor(instance),
        dispatcher: blueprint.dispatcher(instance).polling(),
        pool: Permits::new(blueprint.concurrency),
    });
    let executor = worker.executor.clone();
    instance.ports.runtime.spawn(Box::pin(worker.poll()));
    blueprint.start_recovery(&executor, Requeue::Here);
}

/// Polls the rows of timers.
struct Worker {
    instance: Instance,
    blueprint: Arc<Blueprint>,
    executor: Arc<Executor>,
    dispatcher: dispatch::Dispatcher,
    pool: Permits,
}

impl Worker {
    /// Looks for due timers whenever it has a thread to spare, until the instance stops.
    async fn poll(self: Arc<Self>) {
        let ports = &self.instance.ports;
        let (claim, retry) = (&self.blueprint.dispatch.claim, &self.blueprint.work.retry);
        for timer in &self.blueprint.timers {
            if timer.is_on(self.instance.id) && !dispatch::enrol(ports, timer, claim, retry).await {
                return;
            }
        }
        let nobody = Ids::default();
        let at = At::new(&steps::WORKER_POLL, &nobody);
        let every = self.blueprint.polled.poll;
        let anchor = ports.runtime.anchor(at, every);
        let interest = Interest::DueTimers {
            table: TIMERS,
            recover_after: self.recover_after(),
        };
        loop {
            drop(self.pool.acquire().await);
            if ports.runtime.idle_until(anchor, every, interest).await == Wake::Stop {
                return;
            }
            match ports.database.execute(at, self.due()).await {
                Ok(answers) => {
                    for row in answers.iter().flat_map(crate::ports::Answer::rows) {
                        self.clone().take(row).await;
                    }
                }
                Err(error) => ports.journal.record(at, dispatch::failed(error)),
            }
        }
    }

    /// How long a row may stay acquired, as the claim says.
    fn recover_after(&self) -> Option<Span> {
        match &self.blueprint.dispatch.claim {
            ClaimConfig::CompareState(config) => config.recover_after.0,
            _ => None,
        }
    }

    /// The timers whose next slot has come, and whose row may be claimed.
    fn due(&self) -> Statements {
        let come = || Test::AtMost(timers::NEXT, Expr::Now { plus_ms: 0 });
        let state = |state| Test::Is(timers::STATE, state);
        let mut when = Condition::all([come(), state(dispatch::WAITING)]);
        if let Some(after) = self.recover_after() {
            let long_ago = Expr::Now {
                plus_ms: -after.as_i64(),
            };
            let abandoned = Test::AtMost(timers::SINCE, long_ago);
            when = when.or_all([come(), state(dispatch::ACQUIRED), abandoned]);
        }
        vec![Statement::Scan {
            table: TIMERS,
            when,
        }]
    }

    /// Fires the slot of a row that is due, and executes its run if the claim is won. A pass goes
    /// on to the next row while the pool has a thread.
    async fn take(self: Arc<Self>, row: &Row) {
        let timers = &self.blueprint.timers;
        let Some(timer) = timers.iter().find(|timer| timer.id.text() == &row.key) else {
            return;
        };
        if !timer.is_on(self.instance.id) || self.instance.ports.runtime.stopping() {
            return;
        }
        drop(self.pool.acquire().await);
        let due = Timestamp(dispatch::Position::of(row).next);
        let Some(fire) = fire_due(&self.instance.ports, timer, due).await else {
            return;
        };
        if self.dispatcher.claim_here(&fire).await {
            let runtime = self.instance.ports.runtime.clone();
            runtime.spawn(Box::pin(self.execute(fire)));
        }
    }

    async fn execute(self: Arc<Self>, fire: Fire) {
        let permit = self.pool.acquire().await;
        self.executor.execute_here(&fire.ids).await;
        self.dispatcher.release_here(&fire).await;
        drop(permit);
    }
}
