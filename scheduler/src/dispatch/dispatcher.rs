//! Dispatches the slots that one instance fires, through errors, to the end.
//!
//! A call that was refused or got no answer is made again, alone, with the same trace: what is done
//! already is not done again (an open transaction is: it was rolled back). A claim that turns out to
//! be taken after an unknown outcome is looked at, since it may be our own.

use super::statements::advance;
use super::unique_run_key::insert_run;
use super::{Claim, ClaimConfig, Cursor, DispatchConfig, Fire, Order};
use crate::ports::{
    Answer, Answers, At, CallError, OnConflict, Ports, Row, RowLock, Statement, Statements, Wake,
};
use crate::tables::{CLAIMS, RUNS, runs};
use crate::topologies::routed::Caller;
use crate::weakness::Weakness;
use crate::work::RetryConfig;
use crate::{Instance, steps};
use crate::{backoff, marks};
use evidence::{Step, What};
use std::sync::Arc;

/// Dispatches the slots that one instance fires.
pub struct Dispatcher {
    pub(super) ports: Ports,
    claim: Box<dyn Claim>,
    order: Order,
    retry: RetryConfig,
    pub(super) creates_record: bool,
    pub(super) unique: bool,
    /// Whether the timer's position is recorded.
    pub(super) moves: bool,
    /// Whether the position is recorded with a claim that is made for this process.
    positions: bool,
    /// Whether the position is recorded only when the work is done (`polled`).
    pub(super) late: bool,
    /// Whether a slot that another has is looked at again by itself (`polled`).
    pub(super) polls: bool,
    /// Whether the run becomes a row of the queue instead of a message.
    pub(super) rows: bool,
    /// Who calls executors, where no queue takes the run.
    pub(super) caller: Option<Arc<Caller>>,
}

/// How a try ended, when no error stopped it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dispatched {
    Done,
    Taken,
}

/// What has been done already, when a try is the next of several.
#[derive(Default)]
pub(super) struct Progress {
    /// The lock of the claim is held.
    acquired: bool,
    /// A claim may be there of which we have not heard.
    pub(super) unsure: bool,
    pub(super) claimed: bool,
    pub(super) published: bool,
    pub(super) advanced: bool,
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

impl Dispatcher {
    /// For one incarnation of an instance. `creates_record`: the guard reads the table of runs by
    /// runKey, so that the claim's row is the record CREATED.
    pub fn new(
        instance: &Instance,
        config: &DispatchConfig,
        retry: &RetryConfig,
        creates_record: bool,
    ) -> Self {
        let table = if creates_record { RUNS } else { CLAIMS };
        let unique = config.claim == ClaimConfig::UniqueRunKey;
        let moves = config.cursor == Cursor::Stored;
        Dispatcher {
            ports: instance.ports.clone(),
            claim: config.claim.build(instance, table),
            order: config.order,
            retry: retry.clone(),
            creates_record,
            unique,
            moves,
            // Only a claim of the slot keeps a position there.
            positions: moves && (unique || matches!(config.claim, ClaimConfig::Leader(_))),
            late: false,
            polls: false,
            rows: false,
            caller: None,
        }
    }

    /// The same, with executors to call instead of a queue to publish to.
    pub(crate) fn calling(self, caller: Arc<Caller>) -> Self {
        Dispatcher {
            caller: Some(caller),
            ..self
        }
    }

    /// For workers that poll the rows of timers: each moves on with its claim or, in this order,
    /// when its work is done.
    pub(crate) fn polling(mut self) -> Self {
        (self.positions, self.polls) = (true, true);
        self.late = self.order == Order::DispatchThenAdvance;
        self
    }

    /// For a queue that is a table: the run becomes a row in the transaction of the claim.
    pub(crate) fn into_rows(mut self) -> Self {
        self.rows = true;
        self
    }

    /// Claims the slot, publishes its run and records the position, in the configured order; goes
    /// on through errors until it is done, taken by another, or the instance stops.
    pub async fn dispatch(&self, fire: &Fire) {
        let mut progress = Progress::default();
        if self.ports.weak(Weakness::AdvanceBeforeClaim) {
            let _ = self
                .execute(&steps::DISPATCH_ADVANCE, fire, vec![advance(fire)])
                .await;
        }
        self.to_the_end(fire, &mut progress, Some(self.order)).await;
        if progress.acquired {
            self.claim.release(&self.ports, fire).await;
        }
    }

    /// Claims the slot for this process (`local`); the claim is held until
    /// [`Dispatcher::release_here`].
    pub(crate) async fn claim_here(&self, fire: &Fire) -> bool {
        self.to_the_end(fire, &mut Progress::default(), None).await
    }

    /// Gives the claim back after the work, and records the position where that comes last.
    pub(crate) async fn release_here(&self, fire: &Fire) {
        if self.late {
            self.advance_late(fire).await;
        }
        self.claim.release(&self.ports, fire).await;
    }

    /// Tries to record the position until it is done or the instance stops.
    async fn advance_late(&self, fire: &Fire) {
        let mut progress = Progress::default();
        let mut failures = 0;
        loop {
            let advanced = match self.claim.by_position() {
                Some(claim) => {
                    let nothing_else = Statements::new();
                    self.let_go(claim, fire, &mut progress, nothing_else).await
                }
                None => self.advance(fire, &mut progress, vec![advance(fire)]).await,
            };
            let Err((step, error)) = advanced else { return };
            self.tell(step, fire, failed(error));
            progress.unsure |= !error.is_refusal();
            failures += 1;
            if backoff::pause(&*self.ports.runtime, &self.retry, failures).await == Wake::Stop {
                return;
            }
        }
    }

    /// Tries until it is done; false if another has the slot or the instance stops. Without an
    /// order the slot is only claimed.
    async fn to_the_end(&self, fire: &Fire, progress: &mut Progress, order: Option<Order>) -> bool {
        let mut failures = 0;
        loop {
            match self.one_try(fire, progress, order).await {
                Ok(Dispatched::Done) => return true,
                Ok(Dispatched::Taken) => {
                    self.tell(&steps::DISPATCH_CLAIM, fire, What::ClaimTaken);
                    return false;
                }
                Err((step, error)) => {
                    self.tell(step, fire, failed(error));
                    progress.unsure |= !error.is_refusal();
                    if self.ports.weak(Weakness::ClaimNotRetried) {
                        return false;
                    }
                    if self.ports.weak(Weakness::UnknownClaimIsWon) && progress.unsure {
                        return true;
                    }
                }
            }
            failures += 1;
            if backoff::pause(&*self.ports.runtime, &self.retry, failures).await == Wake::Stop {
                return false;
            }
        }
    }

    async fn one_try(
        &self,
        fire: &Fire,
        progress: &mut Progress,
        order: Option<Order>,
    ) -> Result<Dispatched, StepError> {
        if self.claim.acquires() && !progress.acquired {
            let acquired = self.claim.acquire(&self.ports, fire).await;
            if !acquired.map_err(|error| (&steps::DISPATCH_CLAIM, error))? {
                self.ports.journal.mark(&marks::CLAIM_LOCKED);
                return Ok(Dispatched::Taken);
            }
            progress.acquired = true;
        }
        if let Some(claim) = self.claim.by_position() {
            return self.by_position(claim, fire, progress, order).await;
        }
        match order {
            None => {
                let position = (self.positions && !self.late).then(|| advance(fire));
                self.claim_with(fire, progress, position).await
            }
            Some(Order::Outbox) => self.outbox(fire, progress).await,
            Some(Order::OneTransaction) => self.one_transaction(fire).await,
            Some(Order::DispatchThenAdvance) => self.dispatch_then_advance(fire, progress).await,
            Some(Order::AdvanceThenDispatch) => self.advance_then_dispatch(fire, progress).await,
        }
    }

    /// The claim and what goes with it in one call; no call where there is neither.
    pub(super) async fn claim_with(
        &self,
        fire: &Fire,
        progress: &mut Progress,
        with: impl IntoIterator<Item = Statement>,
    ) -> Result<Dispatched, StepError> {
        let step = &steps::DISPATCH_CLAIM;
        let mut statements = self.claim_statements(fire);
        statements.extend(with);
        if !progress.claimed && !statements.is_empty() {
            let answers = self.execute(step, fire, statements).await?;
            let taken = conflicts(&answers) && !self.ports.weak(Weakness::ClaimUnchecked);
            if taken && !(progress.unsure && self.is_ours(fire).await?) {
                self.ports.journal.mark(&marks::CLAIM_CONFLICT);
                return Ok(Dispatched::Taken);
            }
        }
        if !progress.claimed
            && (self.unique || self.polls || self.claim.acquires() || self.creates_record)
        {
            self.tell(step, fire, What::Claimed);
        }
        progress.claimed = true;
        Ok(Dispatched::Done)
    }

    pub(super) fn claim_statements(&self, fire: &Fire) -> Statements {
        let mut statements = self.claim.statements(fire, self.creates_record);
        if self.ports.weak(Weakness::ClaimWithoutKey)
            && let Some(table) = self.claim.table()
        {
            statements = vec![insert_run(table, fire, OnConflict::Ignore)];
        }
        if self.creates_record && !self.unique {
            // The record exists before the message, whoever else made it.
            statements.push(insert_run(RUNS, fire, OnConflict::Ignore));
        }
        statements
    }

    pub(super) async fn execute(
        &self,
        step: &'static Step,
        fire: &Fire,
        statements: Statements,
    ) -> Result<Answers, StepError> {
        let at = At::new(step, &fire.ids);
        let answers = self.ports.database.execute(at, statements).await;
        answers.map_err(|error| (step, error))
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
        let step = &steps::DISPATCH_CLAIM_READ;
        let answers = self.execute(step, fire, vec![select]).await?;
        let row: Option<&Row> = answers.first().and_then(|answer| answer.rows().first());
        let ours =
            row.is_some_and(|row| row.cells[usize::from(runs::TRACE.0)].int() == fire.trace_cell());
        let ours = ours || self.ports.weak(Weakness::ClaimOwnerUnasked);
        let mark = if ours {
            &marks::CLAIM_OURS
        } else {
            &marks::CLAIM_NOT_OURS
        };
        self.ports.journal.mark(mark);
        Ok(ours)
    }

    pub(super) fn tell(&self, step: &'static Step, fire: &Fire, what: What) {
        self.ports.journal.record(At::new(step, &fire.ids), what);
    }
}

/// Whether the transaction was rolled back because a key exists.
pub(super) fn conflicts(answers: &Answers) -> bool {
    answers
        .last()
        .is_some_and(|answer| *answer == Answer::Conflict)
}
