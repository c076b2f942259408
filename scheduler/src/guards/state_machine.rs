//! `state_machine`: a record per run, with an owner, a lease, and a count of attempts.
//!
//! ```text
//! CREATED -> QUEUED -> RUNNING (attempt, owner, lease) -> SUCCEEDED
//!                         |  ^                         -> DEAD     no attempt is left
//!          lease is over  |  |  backoff is over        -> UNKNOWN  left to a person
//!                         v  |
//!                      RUNNING, next attempt  <-  FAILED
//! ```
//!
//! **Promises** that a run that has been recorded as done is not run again, that two attempts run at
//! once only where a lease has ended, that a run whose owner has died is taken over, and that only
//! the current attempt records how the run ended.
//! **Breaks** between the effect and the record: whoever dies there, or never hears from the
//! downstream, is followed by another attempt. A lease that ends while its owner lives lets a second
//! attempt in beside the first. Both are for the downstream to make harmless.
//! **Source**: S0.16; DESIGN section 3, "Execution record".

use super::kind::Kind;
use super::record::{self, Change, Record, tell};
use super::{
    Entry, Guard, GuardContext, OnLost, Outcome, Permit, Retries, Settle, TimeSource, Visit,
    state_number,
};
use crate::dispatch::failed;
use crate::ports::{
    Answer, At, CallError, Condition, Expr, Fut, OnConflict, Ports, RowLock, Statement, Statements,
    Test, Value,
};
use crate::span::positive;
use crate::tables::{RUNS, runs};
use crate::weakness::Weakness;
use crate::{Span, Switchable, marks, steps};
use evidence::RecordState::{Created, Dead, Failed, Queued, Running, Succeeded, Unknown};
use evidence::{Ids, RecordState, Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "state_machine"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StateMachineConfig {
    /// How long an attempt owns its run without a heartbeat. Default 45 s.
    #[serde(deserialize_with = "positive")]
    pub lease: Span,
    /// How often the attempt extends its lease. Default 15 s.
    pub heartbeat: Switchable,
    /// Whose clock says when a lease has ended. Default: the database's, per statement.
    pub clock: TimeSource,
    /// How long a run may stay QUEUED before recovery publishes it again. Default 90 s.
    pub sweep_queued_after: Switchable,
    /// Whether only the current attempt may record how it ended. Default: yes.
    pub finalise_check: bool,
    /// What happens to the work when the lease is found lost. Default: it goes on.
    pub on_lost: OnLost,
}

impl Default for StateMachineConfig {
    fn default() -> Self {
        StateMachineConfig {
            lease: Span::secs(45),
            heartbeat: Switchable(Some(Span::secs(15))),
            clock: TimeSource::Statement,
            sweep_queued_after: Switchable(Some(Span::secs(90))),
            finalise_check: true,
            on_lost: OnLost::Continue,
        }
    }
}

impl Kind for StateMachineConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(StateMachine {
            ports: context.instance.ports.clone(),
            max_attempts: context.max_attempts.max(1),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls = vec![&steps::GUARD_ENTER, &steps::GUARD_FINISH];
        if self.heartbeat.0.is_some() {
            calls.push(&steps::GUARD_HEARTBEAT);
        }
        calls
    }

    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        vec![("guard.lease", self.lease)]
    }

    fn renewal(&self) -> Option<Span> {
        self.heartbeat.0
    }

    fn reads_node_clock(&self) -> bool {
        self.clock == TimeSource::Node
    }

    fn keeps_record(&self) -> bool {
        true
    }

    fn on_lost(&self) -> OnLost {
        self.on_lost
    }
}

struct StateMachine {
    ports: Ports,
    max_attempts: u32,
    config: StateMachineConfig,
}

/// "Its state is this one."
fn is(state: RecordState) -> Test {
    Test::Is(runs::STATE, state_number(state))
}

/// "It has not ended": CREATED, QUEUED or RUNNING.
fn not_ended() -> Test {
    Test::AtMost(runs::STATE, Expr::from(state_number(Running)))
}

/// "This visit owns it."
fn owned_by(token: u64) -> Test {
    Test::Is(runs::OWNER, token as i64)
}

impl StateMachine {
    fn now(&self, plus: Span) -> Expr {
        self.config.clock.now(&*self.ports.clock, plus.as_i64())
    }

    fn over(&self) -> Test {
        Test::AtMost(runs::UNTIL, self.now(Span::ZERO))
    }

    /// Four statements in one transaction: make the record; or start the next attempt of a run that
    /// waits for one; or take over a run whose lease is over; then read what it is now.
    ///
    /// What is read says whether this visit owns the run, also where an earlier try of the same
    /// visit got it and never heard so.
    fn claim(&self, visit: &Visit<'_>) -> Statements {
        let weak = |weakness| self.ports.weak(weakness);
        let lease = match weak(Weakness::LeaseIsNothing) {
            true => Span::ZERO,
            false => self.config.lease,
        };
        let (now, lease_ends) = (self.over(), self.now(lease));
        let not_last = Test::AtMost(runs::ATTEMPT, Expr::from(i64::from(self.max_attempts) - 1));
        let own = |when: Condition, counted: i64| {
            let next_attempt: Change = vec![
                record::state(Running),
                (runs::ATTEMPT, Expr::Plus(runs::ATTEMPT, counted)),
                (runs::OWNER, Expr::from(visit.token as i64)),
                (runs::UNTIL, lease_ends.clone()),
            ];
            record::update(visit.key, when, next_attempt)
        };
        let told = match weak(Weakness::QueuedDoesNotRun) {
            true => Created,
            false => Queued,
        };
        let queued = Test::AtMost(runs::STATE, Expr::from(state_number(told)));
        let mut waiting = Condition::all([queued, not_last.clone()]);
        if !weak(Weakness::FailedIsNotRetried) {
            waiting = waiting.or_all([is(Failed), now.clone(), not_last.clone()]);
        }
        if weak(Weakness::DoneRunsAgain) {
            waiting = waiting.or_all([is(Succeeded)]);
        }
        let abandoned = match () {
            () if weak(Weakness::NoTakeover) => Condition::all([Test::Is(runs::STATE, -1)]),
            () if weak(Weakness::LeaseUnasked) => Condition::all([is(Running), not_last]),
            () => Condition::all([is(Running), now, not_last]),
        };
        let counted = i64::from(!weak(Weakness::TakeoverUncounted));
        vec![
            record::insert(visit, Running, lease_ends.clone(), OnConflict::Ignore),
            own(waiting, 1),
            own(abandoned, counted),
            record::select(visit.key, RowLock::None),
        ]
    }

    async fn enter(&self, visit: Visit<'_>) -> Result<Entry, CallError> {
        let step = &steps::GUARD_ENTER;
        let at = At::new(step, visit.ids);
        let answers = self.ports.database.execute(at, self.claim(&visit)).await?;
        let Some(record) = Record::of(&answers) else {
            // Purged between two statements: the next try makes it anew.
            return Ok(self.busy(&visit, self.config.lease));
        };
        match record.state {
            Some(Running) if record.owner == visit.token => {
                let changed = |place| answers.get(place).is_some_and(Answer::changed);
                let taken_over = changed(2);
                if taken_over {
                    self.ports.journal.mark(&marks::TAKEN_OVER);
                } else if changed(1) && record.attempt > 1 {
                    self.ports.journal.mark(&marks::RETRIED);
                } else if !changed(0) && !changed(1) {
                    self.ports.journal.mark(&marks::RECORD_OURS);
                }
                Ok(Entry::Run(self.permit(&visit, record.attempt, taken_over)))
            }
            Some(Succeeded) => {
                tell(&self.ports, step, visit.ids, What::SkippedDone);
                self.ports.journal.mark(if visit.ids.delivery > 1 {
                    &marks::DONE_AND_REDELIVERED
                } else {
                    &marks::DONE_BY_ANOTHER_MESSAGE
                });
                Ok(Entry::Done)
            }
            Some(Dead | Unknown) => Ok(self.given_up(&visit, record)),
            _ if record.attempt >= self.max_attempts => self.give_up(&visit, record).await,
            _ => Ok(self.busy(&visit, self.rest(record))),
        }
    }

    fn permit(&self, visit: &Visit<'_>, attempt: u32, taken_over: bool) -> Permit {
        let step = &steps::GUARD_ENTER;
        let ids = of_attempt(visit, attempt);
        if taken_over {
            tell(&self.ports, step, &ids, What::TakenOver);
        }
        tell(&self.ports, step, &ids, What::Recorded(Running));
        Permit {
            attempt,
            token: visit.token,
            fence: Some(u64::from(attempt)),
            repeats: attempt > 1,
            taken_over,
        }
    }

    fn busy(&self, visit: &Visit<'_>, rest: Span) -> Entry {
        tell(&self.ports, &steps::GUARD_ENTER, visit.ids, What::Busy);
        Entry::Busy {
            retry_in: Some(Span::millis(rest.ms() + 1)),
        }
    }

    /// How long a lease or a backoff may still last. The database's clock cannot be read from here,
    /// so that a whole lease is waited where it is the one that counts.
    fn rest(&self, record: Record) -> Span {
        match self.config.clock {
            TimeSource::Node => {
                let rest = record.until.saturating_sub(self.ports.clock.now().0);
                Span::millis(u64::try_from(rest).unwrap_or(0))
            }
            TimeSource::Statement | TimeSource::Transaction => self.config.lease,
        }
    }

    /// The last attempt was begun by somebody else: DEAD, unless it may still be at work.
    async fn give_up(&self, visit: &Visit<'_>, record: Record) -> Result<Entry, CallError> {
        let step = &steps::GUARD_FINISH;
        let last = Test::Is(runs::ATTEMPT, i64::from(record.attempt));
        let queued = Test::AtMost(runs::STATE, Expr::from(state_number(Queued)));
        // The owner stays, so that its late success is still recorded.
        let dead = record::update(
            visit.key,
            Condition::all([queued, last.clone()])
                .or_all([is(Failed), self.over(), last.clone()])
                .or_all([is(Running), self.over(), last]),
            vec![record::state(Dead), no_lease()],
        );
        let at = At::new(step, visit.ids);
        let answers = self.ports.database.execute(at, vec![dead]).await?;
        if !answers.last().is_some_and(Answer::changed) {
            return Ok(self.busy(visit, self.rest(record)));
        }
        tell(&self.ports, step, visit.ids, What::Recorded(Dead));
        self.ports.journal.mark(&marks::GAVE_UP_FOR_ANOTHER);
        Ok(self.given_up(visit, record))
    }

    fn given_up(&self, visit: &Visit<'_>, record: Record) -> Entry {
        let ids = of_attempt(visit, record.attempt);
        tell(&self.ports, &steps::GUARD_ENTER, &ids, What::GaveUp);
        Entry::GivenUp
    }

    /// Ends when the lease is somebody else's, or must be taken for it.
    async fn heartbeat(&self, visit: Visit<'_>, every: Span) {
        let (runtime, step) = (&self.ports.runtime, &steps::GUARD_HEARTBEAT);
        let at = At::new(step, visit.ids);
        let mut ends = runtime.monotonic().plus(self.config.lease);
        loop {
            runtime.sleep(every).await;
            let asked = runtime.monotonic();
            let extend = record::update(
                visit.key,
                Condition::all([owned_by(visit.token), is(Running)]),
                vec![(runs::UNTIL, self.now(self.config.lease))],
            );
            match self.ports.database.execute(at, vec![extend]).await {
                Ok(answers) if answers.last().is_some_and(Answer::changed) => {
                    self.ports.journal.mark(&marks::LEASE_RENEWED);
                    ends = asked.plus(self.config.lease);
                }
                Ok(_) => {
                    self.ports.journal.mark(&marks::LEASE_LOST);
                    break;
                }
                Err(error) => {
                    tell(&self.ports, step, visit.ids, failed(error));
                    if runtime.monotonic() >= ends {
                        break;
                    }
                }
            }
        }
        tell(&self.ports, step, visit.ids, What::OwnershipLost);
    }
}

/// The identifiers of this attempt: a visit has none before it is let in.
fn of_attempt(visit: &Visit<'_>, attempt: u32) -> Ids {
    Ids {
        attempt,
        ..visit.ids.clone()
    }
}

fn no_lease() -> (crate::ports::Column, Expr) {
    (runs::UNTIL, Expr::Value(Value::Null))
}

impl Guard for StateMachine {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(self.enter(visit))
    }

    fn hold<'a>(&'a self, visit: Visit<'a>, _: &'a Permit) -> Option<Fut<'a, ()>> {
        let every = self.config.heartbeat.0?;
        if self.ports.weak(Weakness::NoHeartbeat) {
            return None;
        }
        Some(Box::pin(self.heartbeat(visit, every)))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(self.finish(visit, permit, outcome))
    }

    fn record_success(&self, visit: Visit<'_>, _: &Permit) -> Statements {
        let unasked = self.ports.weak(Weakness::SuccessOwnerUnasked);
        let when = if self.config.finalise_check && !unasked {
            Condition::all([owned_by(visit.token), not_ended()])
        } else {
            Condition::always()
        };
        vec![Statement::Update {
            table: RUNS,
            key: visit.key.clone(),
            when,
            set: vec![record::state(Succeeded), no_lease()],
            required: true,
        }]
    }

    fn retries(&self) -> Retries {
        Retries::Deferred
    }
}

mod ending;
#[cfg(test)]
mod tests;
