//! Recovery: finds runs whose owner is gone, or that nobody ever picked up, and brings them back.
//!
//! It never executes and never makes a new run: it puts the run back into the queue under the same
//! runKey, and the guard decides.

use crate::dispatch::failed;
use crate::executor::Executor;
use crate::guards::{TimeSource, state_number, state_of};
use crate::marks::{self, Mark};
use crate::ports::{
    Answer, At, Condition, Envelope, Expr, Interest, Monotonic, Row, Statement, Test, Value, Wake,
};
use crate::tables::{RUNS, runs};
use crate::weakness::Weakness;
use crate::{Span, steps};
use evidence::{Ids, RecordState, RunKey, TraceId, What};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `[recovery]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecoveryConfig {
    /// Whether there is any.
    pub enabled: bool,
    /// How often each executor scans. Default 10 s.
    pub every: Span,
    /// Whether a starting executor takes every RUNNING run for one that its predecessor has left
    /// behind, whoever is at work at it. Default: no.
    #[serde(skip_serializing_if = "is_false")]
    pub on_start: bool,
    /// From when on the owner of a row of the queue counts as dead, where workers poll rows of
    /// runs (`[topology] rows = "runs"`). Default: from its last heartbeat.
    #[serde(skip_serializing_if = "DeadSince::is_default")]
    pub dead_since: DeadSince,
}

fn is_false(knob: &bool) -> bool {
    !*knob
}

/// From when on an owner that does not end its work counts as dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadSince {
    /// `ack_deadline` after its last heartbeat.
    #[default]
    LastHeartbeat,
    /// `ack_deadline` after it began, whatever its heartbeat says (Oban's Lifeline).
    Start,
}

impl DeadSince {
    const fn is_default(&self) -> bool {
        matches!(self, DeadSince::LastHeartbeat)
    }
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        RecoveryConfig {
            enabled: true,
            every: Span::secs(10),
            on_start: false,
            dead_since: DeadSince::LastHeartbeat,
        }
    }
}

/// What recovery needs to know of the guard that keeps the records.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// How long a run may stay QUEUED, or FAILED past its backoff.
    pub sweep_after: Option<Span>,
    /// Whose clock says when a lease has ended.
    pub clock: TimeSource,
}

/// What recovery does with a run that it has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// Publishes a new message.
    Publish,
    /// Executes it in this process (`local`).
    Here,
}

/// Scans until the instance stops.
pub async fn recover(
    executor: Arc<Executor>,
    config: RecoveryConfig,
    sweep: Sweep,
    requeue: Requeue,
    anchor: Monotonic,
) {
    let interest = Interest::Overdue {
        table: RUNS,
        sweep_after: sweep.sweep_after,
        leases: sweep.clock,
    };
    if config.on_start {
        scan(&executor, requeue, || {
            Condition::all([is(RecordState::Running)])
        })
        .await;
    }
    let runtime = &executor.ports().runtime;
    while runtime.idle_until(anchor, config.every, interest).await == Wake::Poll {
        scan(&executor, requeue, || overdue(&executor, sweep)).await;
    }
}

/// Reads the runs where the condition holds, and brings back each of which it still holds.
async fn scan(executor: &Arc<Executor>, requeue: Requeue, when: impl Fn() -> Condition) {
    let nobody = Ids::default();
    let at = At::new(&steps::RECOVERY_SCAN, &nobody);
    let statements = vec![Statement::Scan {
        table: RUNS,
        when: when(),
    }];
    match executor.ports().database.execute(at, statements).await {
        Ok(answers) => {
            for row in answers.iter().flat_map(Answer::rows) {
                bring_back(executor, row, when(), requeue).await;
            }
        }
        Err(error) => executor.ports().journal.record(at, failed(error)),
    }
}

fn is(state: RecordState) -> Test {
    Test::Is(runs::STATE, state_number(state))
}

fn overdue(executor: &Executor, sweep: Sweep) -> Condition {
    let clock = &*executor.ports().clock;
    let lease_over = Test::AtMost(runs::UNTIL, sweep.clock.now(clock, 0));
    let weak = |weakness| executor.ports().weak(weakness);
    let mut condition = Condition::all([is(RecordState::Running), lease_over]);
    if weak(Weakness::RecoverySkipsRunning) {
        let nobody = Test::Is(runs::ATTEMPT, -1);
        condition = Condition::all([nobody]);
    }
    if let Some(after) = sweep.sweep_after {
        let forgotten = Test::AtMost(
            runs::UNTIL,
            Expr::Now {
                plus_ms: -after.as_i64(),
            },
        );
        for state in [RecordState::Queued, RecordState::Failed] {
            if weak(match state {
                RecordState::Queued => Weakness::RecoverySkipsQueued,
                _ => Weakness::RecoverySkipsFailed,
            }) {
                continue;
            }
            condition = condition.or_all([is(state), forgotten.clone()]);
        }
    }
    condition
}

/// Takes the run over from whoever had it (only one recovery can), then tells the queue.
async fn bring_back(executor: &Arc<Executor>, row: &Row, when: Condition, requeue: Requeue) {
    let Some((mut ids, mut envelope)) = read(row) else {
        return;
    };
    let ports = executor.ports();
    if ports.weak(Weakness::RequeueMintsTrace) {
        envelope.trace = TraceId(!envelope.trace.0);
        ids.trace = Some(envelope.trace);
    }
    let when = match ports.weak(Weakness::RequeueStateUnasked) {
        true => Condition::always(),
        false => when,
    };
    let found = state_of(row.cells[usize::from(runs::STATE.0)].int());
    let at = At::new(&steps::RECOVERY_REQUEUE, &ids);
    let statements = vec![Statement::Update {
        table: RUNS,
        key: row.key.clone(),
        when,
        set: vec![
            (runs::STATE, Expr::from(state_number(RecordState::Queued))),
            (runs::UNTIL, Expr::Now { plus_ms: 0 }),
        ],
        required: false,
    }];
    match ports.database.execute(at, statements).await {
        Ok(answers) if answers.last().is_some_and(Answer::changed) => {
            ports.journal.mark(mark_of(found));
        }
        Ok(_) => return ports.journal.mark(&marks::REQUEUE_TOO_LATE),
        Err(error) => return ports.journal.record(at, failed(error)),
    }
    if ports.weak(Weakness::RequeueUnpublished) {
        return;
    }
    match requeue {
        Requeue::Here => {
            ports.journal.record(at, What::Requeued);
            executor.execute_here(&ids).await;
        }
        Requeue::Publish => {
            let at = At::new(ports.broker.steps().publish, &ids);
            match ports.broker.publish(at, envelope).await {
                Ok(_) => ports
                    .journal
                    .record(At::new(&steps::RECOVERY_REQUEUE, &ids), What::Requeued),
                Err(error) => ports.journal.record(at, failed(error)),
            }
        }
    }
}

/// What it means that a run in this state is requeued.
const fn mark_of(found: Option<RecordState>) -> &'static Mark {
    match found {
        Some(RecordState::Queued) => &marks::REQUEUED_QUEUED,
        Some(RecordState::Failed) => &marks::REQUEUED_FAILED,
        _ => &marks::REQUEUED_RUNNING,
    }
}

/// The run that a record is about; `None` for a row that no version of this code has written.
fn read(row: &Row) -> Option<(Ids, Envelope)> {
    let Value::Text(text) = &row.cells[usize::from(runs::RUN.0)] else {
        return None;
    };
    let run = RunKey::try_from(text.clone()).ok()?;
    let trace = TraceId(row.cells[usize::from(runs::TRACE.0)].int() as u64);
    let ids = Ids {
        slot: row.slot,
        run: Some(run.clone()),
        trace: Some(trace),
        attempt: u32::try_from(row.cells[usize::from(runs::ATTEMPT.0)].int()).unwrap_or(0),
        ..Ids::default()
    };
    // No dedup id: the broker must not take this message for the first one.
    Some((
        ids,
        Envelope {
            run,
            trace,
            slot: row.slot,
            dedup_id: None,
        },
    ))
}
