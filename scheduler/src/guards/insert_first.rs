//! `insert_first`: a unique row first, then the work; a conflict is answered with success.
//!
//! **Promises** that of any number of deliveries of a key only one is ever run.
//! **Breaks** the other way: whoever crashes, or never hears of its own insert, after the insert
//! leaves a RUNNING zombie that every redelivery skips, and a FAILED run is never tried again (lost).
//! **Source**: S0.13, S0.14, S2.4.

use super::kind::Kind;
use super::record::{self, tell};
use super::{Entry, Guard, GuardContext, Outcome, Permit, Settle, Visit};
use crate::Span;
use crate::ports::{
    Answer, At, CallError, Condition, Expr, Fut, OnConflict, Ports, Statement, Statements, Value,
};
use crate::weakness::Weakness;
use crate::{marks, steps};
use evidence::{RecordState, Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "insert_first"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsertFirstConfig {}

impl Kind for InsertFirstConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(InsertFirst {
            ports: context.instance.ports.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        vec![&steps::GUARD_ENTER, &steps::GUARD_FINISH]
    }

    fn keeps_record(&self) -> bool {
        true
    }
}

struct InsertFirst {
    ports: Ports,
}

impl Guard for InsertFirst {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let on_conflict = match self.ports.weak(Weakness::RowWithoutKey) {
                true => OnConflict::Ignore,
                false => OnConflict::Abort,
            };
            let insert = insert_running(&visit, on_conflict);
            enter_by_insert(
                &self.ports,
                &visit,
                At::new(&steps::GUARD_ENTER, visit.ids),
                insert,
            )
            .await
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(mark(&self.ports, visit, outcome))
    }

    fn record_success(&self, visit: Visit<'_>, _: &Permit) -> Statements {
        mark_succeeded(&visit)
    }
}

/// The row RUNNING, without a lease.
pub(super) fn insert_running(visit: &Visit<'_>, on_conflict: OnConflict) -> Statement {
    let no_lease = Expr::Value(Value::Null);
    record::insert(visit, RecordState::Running, no_lease, on_conflict)
}

/// Runs the attempt unless the database says that the key exists.
pub(super) async fn enter_by_insert(
    ports: &Ports,
    visit: &Visit<'_>,
    at: At<'_>,
    insert: Statement,
) -> Result<Entry, CallError> {
    let statements = vec![insert];
    let answers = ports.database.execute(at, statements).await?;
    if answers.last() == Some(&Answer::Conflict) {
        tell(ports, at.step, visit.ids, What::SkippedTaken);
        ports.journal.mark(&marks::ROW_CONFLICT);
        return Ok(Entry::Taken);
    }
    tell(
        ports,
        at.step,
        visit.ids,
        What::Recorded(RecordState::Running),
    );
    Ok(Entry::Run(Permit::first(visit.token)))
}

/// Marks the row as whatever the outcome was; whose row it is is not asked.
pub(super) async fn mark(
    ports: &Ports,
    visit: Visit<'_>,
    outcome: Outcome,
) -> Result<Settle, CallError> {
    let (state, settle) = match outcome {
        Outcome::Succeeded => (RecordState::Succeeded, Settle::Ack),
        Outcome::Quarantined => (RecordState::Unknown, Settle::Ack),
        // Given back, as an exception does; the next delivery finds the record and skips the run.
        Outcome::Final => (RecordState::Failed, Settle::Defer(Span::ZERO)),
        Outcome::Retryable { retry_in, .. } => (RecordState::Failed, Settle::Defer(retry_in)),
        Outcome::Cancelled => return Ok(Settle::Defer(Span::ZERO)),
    };
    let statements = vec![record::update(
        visit.key,
        Condition::always(),
        vec![record::state(state)],
    )];
    let step = &steps::GUARD_FINISH;
    let answers = ports
        .database
        .execute(At::new(step, visit.ids), statements)
        .await?;
    let what = match answers.last() {
        Some(answer) if answer.changed() => What::Recorded(state),
        _ => What::RecordRefused,
    };
    tell(ports, step, visit.ids, what);
    Ok(settle)
}

/// The row SUCCEEDED, for the transaction that makes the effect.
pub(super) fn mark_succeeded(visit: &Visit<'_>) -> Statements {
    vec![Statement::Update {
        table: crate::tables::RUNS,
        key: visit.key.clone(),
        when: Condition::always(),
        set: vec![record::state(RecordState::Succeeded)],
        required: true,
    }]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::memory::bench::Bench;

    fn bench() -> (Bench, Box<dyn Guard>) {
        let bench = Bench::new();
        let guard = bench.guard(&GuardConfig::InsertFirst(InsertFirstConfig {}));
        (bench, guard)
    }

    #[test]
    fn the_second_delivery_is_answered_with_success() {
        let (bench, guard) = bench();
        let permit = bench.run(&*guard, 1);
        assert_eq!(bench.enter(&*guard, 2), Entry::Taken);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Succeeded),
            Settle::Ack
        );
        assert_eq!(bench.enter(&*guard, 3), Entry::Taken);
        assert_eq!(
            bench.told(),
            [
                What::Recorded(RecordState::Running),
                What::SkippedTaken,
                What::Recorded(RecordState::Succeeded),
                What::SkippedTaken,
            ]
        );
    }

    #[test]
    fn whoever_does_not_hear_of_its_own_insert_leaves_a_zombie() {
        let (bench, guard) = bench();
        bench.database.lose_next_reply();
        assert_eq!(bench.try_enter(&*guard, 1), Err(CallError::TimedOut));
        assert_eq!(bench.enter(&*guard, 1), Entry::Taken);
        assert_eq!(bench.record().unwrap().state, Some(RecordState::Running));
    }

    #[test]
    fn a_failed_run_is_given_back_and_then_skipped() {
        let (bench, guard) = bench();
        let permit = bench.run(&*guard, 1);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Final),
            Settle::Defer(Span::ZERO)
        );
        assert_eq!(bench.record().unwrap().state, Some(RecordState::Failed));
        assert_eq!(bench.enter(&*guard, 2), Entry::Taken);
    }

    #[test]
    fn an_outcome_left_to_a_person_is_recorded_as_unknown() {
        let (bench, guard) = bench();
        let permit = bench.run(&*guard, 1);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Quarantined),
            Settle::Ack
        );
        assert_eq!(bench.record().unwrap().state, Some(RecordState::Unknown));
    }

    #[test]
    fn a_cancelled_attempt_writes_nothing() {
        let (bench, guard) = bench();
        let permit = bench.run(&*guard, 1);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Cancelled),
            Settle::Defer(Span::ZERO)
        );
        assert_eq!(bench.record().unwrap().state, Some(RecordState::Running));
    }
}
