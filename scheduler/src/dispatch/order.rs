//! The order of claim, publish and record, and what each order does about errors.
//!
//! A call with an unknown outcome is made again, with the same trace: a claim that turns out to be
//! taken is looked at, since it may be our own.

use super::unique_run_key::insert_run;
use super::{Claim, DispatchConfig, Order, relay};
use crate::backoff;
use crate::guards::state_number;
use crate::ports::{
    Answer, Answers, At, CallError, Condition, Envelope, Expr, Isolation, Key, OnConflict, Ports,
    Row, RowLock, Statement, Statements, Test, Value, Wake,
};
use crate::tables::{OUTBOX, RUNS, TIMERS, outbox, runs, timers};
use crate::work::RetryConfig;
use crate::{Instance, steps};
use evidence::{Ids, RecordState, RunKey, Step, TimerId, Timestamp, TraceId, What};
use std::sync::Arc;

/// A slot that has become a run.
#[derive(Clone, Debug)]
pub struct Fire {
    /// The identifiers, trace included.
    pub ids: Ids,
    /// The run.
    pub run: RunKey,
    /// Its trace.
    pub trace: TraceId,
    /// The timer.
    pub timer: TimerId,
    /// The planned time.
    pub scheduled: Timestamp,
}

impl Fire {
    /// The trace as a database value.
    pub(crate) const fn trace_cell(&self) -> i64 {
        self.trace.0 as i64
    }

    /// What is published.
    pub(crate) fn envelope(&self) -> Envelope {
        Envelope {
            run: self.run.clone(),
            trace: self.trace,
            slot: self.ids.slot,
            dedup_id: Some(self.run.text().clone()),
        }
    }
}

/// How a try to dispatch ended, when no error stopped it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dispatched {
    Done,
    Taken,
}

/// Dispatches the slots that one instance fires.
pub struct Dispatcher {
    ports: Ports,
    claim: Box<dyn Claim>,
    order: Order,
    retry: RetryConfig,
    creates_record: bool,
    unique: bool,
}

impl Dispatcher {
    /// For one incarnation of an instance. `creates_record`: the guard reads the table of runs by
    /// runKey, so that the claim's row is the record CREATED.
    pub fn new(
        instance: &Instance,
        config: &DispatchConfig,
        retry: &RetryConfig,
        creates_record: bool,
    ) -> Self {
        let table = if creates_record {
            RUNS
        } else {
            crate::tables::CLAIMS
        };
        Dispatcher {
            ports: instance.ports.clone(),
            claim: config.claim.build(instance, table),
            order: config.order,
            retry: retry.clone(),
            creates_record,
            unique: matches!(config.claim, super::ClaimConfig::UniqueRunKey),
        }
    }

    /// Claims the slot, publishes its run and records the position, in the configured order; goes
    /// on through errors until it is done, taken by another, or the instance stops.
    pub async fn dispatch(&self, fire: &Fire) {
        let mut failures = 0;
        loop {
            match self.try_dispatch(fire, failures > 0).await {
                Ok(Dispatched::Done) => return,
                Ok(Dispatched::Taken) => {
                    self.tell(&steps::DISPATCH_CLAIM, fire, What::ClaimTaken);
                    return;
                }
                Err((step, error)) => self.tell(step, fire, failed(error)),
            }
            failures += 1;
            if backoff::pause(&*self.ports.runtime, &self.retry, failures).await == Wake::Stop {
                return;
            }
        }
    }

    /// Claims the slot for this process (`local`); goes on through errors.
    pub(crate) async fn claim_here(&self, fire: &Fire) -> bool {
        let mut failures = 0;
        loop {
            match self.try_claim_here(fire, failures > 0).await {
                Ok(Dispatched::Done) => return true,
                Ok(Dispatched::Taken) => {
                    self.tell(&steps::DISPATCH_CLAIM, fire, What::ClaimTaken);
                    return false;
                }
                Err((step, error)) => self.tell(step, fire, failed(error)),
            }
            failures += 1;
            if backoff::pause(&*self.ports.runtime, &self.retry, failures).await == Wake::Stop {
                return false;
            }
        }
    }

    /// Gives the claim back after the work (`local`).
    pub(crate) async fn release_here(&self, fire: &Fire) {
        self.claim.release(&self.ports, fire).await;
    }

    async fn try_claim_here(&self, fire: &Fire, again: bool) -> Result<Dispatched, StepError> {
        let step = &steps::DISPATCH_CLAIM;
        if !self
            .claim
            .acquire(&self.ports, fire)
            .await
            .map_err(|error| (step, error))?
        {
            return Ok(Dispatched::Taken);
        }
        let mut statements = self.claim_statements(fire);
        if !statements.is_empty() {
            statements.push(advance(fire));
            let answers = self.execute(step, fire, statements).await?;
            if conflicts(&answers) && !(again && self.is_ours(fire).await?) {
                return Ok(Dispatched::Taken);
            }
        }
        if self.unique || self.claim.acquires() {
            self.tell(step, fire, What::Claimed);
        }
        Ok(Dispatched::Done)
    }

    async fn try_dispatch(&self, fire: &Fire, again: bool) -> Result<Dispatched, StepError> {
        let claim = &steps::DISPATCH_CLAIM;
        if !self
            .claim
            .acquire(&self.ports, fire)
            .await
            .map_err(|error| (claim, error))?
        {
            return Ok(Dispatched::Taken);
        }
        let dispatched = match self.order {
            Order::Outbox => self.outbox(fire, again).await,
            Order::OneTransaction => self.one_transaction(fire).await,
            Order::DispatchThenAdvance => self.dispatch_then_advance(fire, again).await,
            Order::AdvanceThenDispatch => self.advance_then_dispatch(fire, again).await,
        };
        self.claim.release(&self.ports, fire).await;
        dispatched
    }

    async fn outbox(&self, fire: &Fire, again: bool) -> Result<Dispatched, StepError> {
        let mut statements = self.claim_statements(fire);
        let key = self.outbox_key(fire);
        statements.push(Statement::Insert {
            table: OUTBOX,
            key: key.clone(),
            cells: vec![
                Expr::from(0),
                Expr::from(fire.trace_cell()),
                Expr::Value(Value::Text(fire.run.text().clone())),
                Expr::Now { plus_ms: 0 },
            ],
            on_conflict: if self.unique {
                OnConflict::Abort
            } else {
                OnConflict::Ignore
            },
        });
        statements.push(advance(fire));
        let step = &steps::DISPATCH_CLAIM;
        let answers = self.execute(step, fire, statements).await?;
        if conflicts(&answers) && !(again && self.is_ours(fire).await?) {
            return Ok(Dispatched::Taken);
        }
        self.tell(step, fire, What::Claimed);
        // What goes wrong from here is mended by the relay.
        if let Err((step, error)) = relay::send(&self.ports, fire, &key, self.creates_record).await
        {
            self.tell(step, fire, failed(error));
        }
        Ok(Dispatched::Done)
    }

    async fn one_transaction(&self, fire: &Fire) -> Result<Dispatched, StepError> {
        let mut transaction = self.ports.database.begin(Isolation::ReadCommitted);
        let statements = self.claim_statements(fire);
        let claim = &steps::DISPATCH_CLAIM;
        if !statements.is_empty() {
            let answers = transaction
                .execute(At::new(claim, &fire.ids), statements, false)
                .await
                .map_err(|error| (claim, error))?;
            if conflicts(&answers) {
                return Ok(Dispatched::Taken);
            }
            self.tell(claim, fire, What::Claimed);
        }
        self.publish(fire).await?;
        let step = &steps::DISPATCH_ADVANCE;
        transaction
            .execute(
                At::new(step, &fire.ids),
                self.advance_statements(fire),
                true,
            )
            .await
            .map_err(|error| (step, error))?;
        self.tell(step, fire, What::Advanced);
        Ok(Dispatched::Done)
    }

    async fn dispatch_then_advance(
        &self,
        fire: &Fire,
        again: bool,
    ) -> Result<Dispatched, StepError> {
        if self.claim_first(fire, again).await? == Dispatched::Taken {
            return Ok(Dispatched::Taken);
        }
        self.publish(fire).await?;
        self.advance(fire, self.advance_statements(fire)).await
    }

    async fn advance_then_dispatch(
        &self,
        fire: &Fire,
        again: bool,
    ) -> Result<Dispatched, StepError> {
        if self.claim_first(fire, again).await? == Dispatched::Taken {
            return Ok(Dispatched::Taken);
        }
        self.advance(fire, one(advance(fire))).await?;
        self.publish(fire).await?;
        Ok(Dispatched::Done)
    }

    /// The claim in a call of its own, where it needs one.
    async fn claim_first(&self, fire: &Fire, again: bool) -> Result<Dispatched, StepError> {
        let statements = self.claim_statements(fire);
        if !statements.is_empty() {
            let answers = self
                .execute(&steps::DISPATCH_CLAIM, fire, statements)
                .await?;
            if conflicts(&answers) && !(again && self.is_ours(fire).await?) {
                return Ok(Dispatched::Taken);
            }
            self.tell(&steps::DISPATCH_CLAIM, fire, What::Claimed);
        } else if self.claim.acquires() {
            self.tell(&steps::DISPATCH_CLAIM, fire, What::Claimed);
        }
        Ok(Dispatched::Done)
    }

    fn claim_statements(&self, fire: &Fire) -> Statements {
        let mut statements = self.claim.statements(fire, self.creates_record);
        if self.creates_record && !self.unique {
            // The record exists before the message, whoever else made it.
            statements.push(insert_run(RUNS, fire, OnConflict::Ignore));
        }
        statements
    }

    /// The position, and the record QUEUED: the message has been accepted.
    fn advance_statements(&self, fire: &Fire) -> Statements {
        let mut statements = one(advance(fire));
        if self.creates_record {
            statements.push(queued(fire.run.text()));
        }
        statements
    }

    async fn publish(&self, fire: &Fire) -> Result<(), StepError> {
        let step = &steps::BROKER_PUBLISH;
        self.ports
            .broker
            .publish(At::new(step, &fire.ids), fire.envelope())
            .await
            .map(|_| ())
            .map_err(|error| (step, error))
    }

    async fn advance(&self, fire: &Fire, statements: Statements) -> Result<Dispatched, StepError> {
        self.execute(&steps::DISPATCH_ADVANCE, fire, statements)
            .await?;
        self.tell(&steps::DISPATCH_ADVANCE, fire, What::Advanced);
        Ok(Dispatched::Done)
    }

    async fn execute(
        &self,
        step: &'static Step,
        fire: &Fire,
        statements: Statements,
    ) -> Result<Answers, StepError> {
        let at = At::new(step, &fire.ids);
        self.ports
            .database
            .execute(at, statements)
            .await
            .map_err(|error| (step, error))
    }

    /// After an unknown outcome: is the claim that stands in our way our own?
    async fn is_ours(&self, fire: &Fire) -> Result<bool, StepError> {
        let Some(table) = self.claim.table() else {
            return Ok(true);
        };
        let select = Statement::Select {
            table,
            key: fire.run.text().clone(),
            lock: RowLock::None,
        };
        let answers = self
            .execute(&steps::DISPATCH_CLAIM_READ, fire, one(select))
            .await?;
        let row: Option<&Row> = answers.first().and_then(|answer| answer.rows().first());
        Ok(row.is_some_and(|row| row.cells[usize::from(runs::TRACE.0)].int() == fire.trace_cell()))
    }

    fn outbox_key(&self, fire: &Fire) -> Key {
        if self.unique {
            fire.run.text().clone()
        } else {
            Arc::from(format!("{}#{}", fire.run, fire.trace))
        }
    }

    fn tell(&self, step: &'static Step, fire: &Fire, what: What) {
        self.ports.journal.record(At::new(step, &fire.ids), what);
    }
}

/// The call that failed, and how.
pub(crate) type StepError = (&'static Step, CallError);

/// The event that tells of a failed call.
pub(crate) const fn failed(error: CallError) -> What {
    match error {
        CallError::TimedOut => What::TimedOut,
        CallError::Refused => What::Failed { request: true },
        CallError::Disconnected => What::Failed { request: false },
    }
}

fn one(statement: Statement) -> Statements {
    vec![statement]
}

fn conflicts(answers: &Answers) -> bool {
    answers
        .last()
        .is_some_and(|answer| *answer == Answer::Conflict)
}

/// The timer's position moves to this slot, never back.
fn advance(fire: &Fire) -> Statement {
    let at = Expr::from(fire.scheduled.0);
    Statement::Update {
        table: TIMERS,
        key: fire.timer.text().clone(),
        when: Condition::all([Test::AtMost(timers::CURSOR, at.clone())]),
        set: vec![(timers::CURSOR, at)],
        required: false,
    }
}

/// The record CREATED becomes QUEUED.
pub(crate) fn queued(key: &Key) -> Statement {
    Statement::Update {
        table: RUNS,
        key: key.clone(),
        when: Condition::all([Test::Is(runs::STATE, state_number(RecordState::Created))]),
        set: vec![
            (runs::STATE, Expr::from(state_number(RecordState::Queued))),
            (runs::UNTIL, Expr::Now { plus_ms: 0 }),
        ],
        required: false,
    }
}

/// The outbox row is sent, and its run QUEUED.
pub(crate) fn mark(key: &Key, record: Option<&Key>) -> Statements {
    let mut statements = one(Statement::Update {
        table: OUTBOX,
        key: key.clone(),
        when: Condition::always(),
        set: vec![(outbox::SENT, Expr::from(1))],
        required: false,
    });
    statements.extend(record.map(queued));
    statements
}
