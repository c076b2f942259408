//! `transactional`: the effect is a row in the guard's database, committed together with the record
//! of success.
//!
//! **Promises** that the effect and its record exist both or not at all, so that whoever comes later
//! reads the truth; an attempt that no longer owns the run has no effect.
//! **Breaks** with a guard that keeps no record in the database, or records without asking who owns
//! the run; and it is only for effects that live in that database: an SMS cannot be rolled back.
//! **Source**: S0.8, S2.2.

use super::{Effect, EffectError, Protection, call_failed};
use crate::ports::{Answer, Answers, At, Expr, Fut, Key, OnConflict, Statement, Statements, Value};
use crate::tables::EFFECTS;
use crate::weakness::Weakness;
use crate::{marks, steps};
use evidence::{RecordState, What};
use serde::{Deserialize, Serialize};

/// `kind = "transactional"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionalConfig {}

/// Writes effect and record in one transaction.
pub(super) struct Transactional;

impl Protection for Transactional {
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(async move {
            let at = At::new(&steps::DOWNSTREAM_PERFORM, effect.ids);
            let mut record = effect.guard.record_success(effect.visit, effect.permit);
            if effect.ports.weak(Weakness::EffectWithoutRecord) {
                record.clear();
            }
            if effect.ports.weak(Weakness::EffectBesideRecord)
                && let Some(Statement::Update { required, .. }) = record.last_mut()
            {
                *required = false;
            }
            let records = !record.is_empty();
            let must_change = matches!(
                record.last(),
                Some(Statement::Update { required: true, .. })
            );
            let mut statements: Statements = vec![insert(&effect, at)];
            statements.extend(record);
            let sent = statements.len();
            let answers = effect.ports.database.execute(at, statements).await;
            let answers = answers.map_err(|error| call_failed(effect.ports, at, error))?;
            if !is_committed(&answers, sent, must_change) {
                effect.ports.journal.mark(&marks::ROLLED_BACK);
                return Err(EffectError::Superseded);
            }
            if records {
                let what = What::Recorded(RecordState::Succeeded);
                effect.ports.journal.record(at, what);
            }
            Ok(())
        })
    }
}

/// The effect, under a key of its own: it is the record that tells a second one.
fn insert(effect: &Effect<'_>, at: At<'_>) -> Statement {
    let run = effect.ids.run.as_ref().map(|run| run.text().clone());
    let name = run.as_deref().unwrap_or_default();
    let key: Key = format!("{name}#{:016x}", effect.ports.runtime.random(at)).into();
    Statement::Insert {
        table: EFFECTS,
        key,
        cells: vec![Expr::Value(run.map_or(Value::Null, Value::Text))],
        on_conflict: OnConflict::Abort,
    }
}

/// Whether the transaction went through to its end.
fn is_committed(answers: &Answers, sent: usize, must_change: bool) -> bool {
    let last = answers.last();
    answers.len() == sent
        && last != Some(&Answer::Conflict)
        && (!must_change || last.is_some_and(Answer::changed))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::ProtectionConfig;
    use super::*;
    use crate::Span;
    use crate::guards::{
        CheckThenInsertConfig, Guard, GuardConfig, InsertFirstConfig, InsertWhen, Permit,
        StateMachineConfig,
    };
    use crate::memory::bench::Bench;
    use crate::memory::block_on;

    fn perform(
        bench: &Bench,
        guard: &dyn Guard,
        token: u64,
        permit: &Permit,
    ) -> Result<(), EffectError> {
        let protection = ProtectionConfig::Transactional(TransactionalConfig {}).build();
        block_on(protection.perform(Effect {
            ports: bench.ports(),
            ids: &bench.ids,
            visit: bench.visit(token),
            permit,
            guard,
            timeout: Span::secs(3),
        }))
    }

    fn state_machine(bench: &Bench) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::StateMachine(StateMachineConfig::default()))
    }

    #[test]
    fn effect_and_record_are_committed_together() {
        for config in [
            GuardConfig::StateMachine(StateMachineConfig::default()),
            GuardConfig::InsertFirst(InsertFirstConfig {}),
            GuardConfig::CheckThenInsert(CheckThenInsertConfig {
                unique_index: true,
                insert: InsertWhen::After,
            }),
        ] {
            let bench = Bench::new();
            let guard = bench.guard(&config);
            let permit = bench.run(&*guard, 1);
            assert_eq!(perform(&bench, &*guard, 1, &permit), Ok(()));
            let state = bench.record().unwrap().state;
            assert_eq!(state, Some(RecordState::Succeeded));
            assert_eq!(bench.rows_of_effects(), 1);
            let told = bench.told();
            assert_eq!(told.last(), Some(&What::Recorded(RecordState::Succeeded)));
        }
    }

    #[test]
    fn a_superseded_attempt_has_no_effect() {
        let bench = Bench::new();
        let guard = state_machine(&bench);
        let late = bench.run(&*guard, 1);
        bench.pass(Span::secs(45));
        let current = bench.run(&*guard, 2);
        assert_eq!(
            perform(&bench, &*guard, 1, &late),
            Err(EffectError::Superseded)
        );
        assert_eq!(bench.rows_of_effects(), 0);
        assert_eq!(perform(&bench, &*guard, 2, &current), Ok(()));
        assert_eq!(bench.rows_of_effects(), 1);
    }

    #[test]
    fn a_unique_row_inserted_with_the_effect_lets_one_of_two_through() {
        let bench = Bench::new();
        let guard = bench.guard(&GuardConfig::CheckThenInsert(CheckThenInsertConfig {
            unique_index: true,
            insert: InsertWhen::After,
        }));
        let (one, other) = (bench.run(&*guard, 1), bench.run(&*guard, 2));
        assert_eq!(perform(&bench, &*guard, 1, &one), Ok(()));
        assert_eq!(
            perform(&bench, &*guard, 2, &other),
            Err(EffectError::Superseded)
        );
        assert_eq!(bench.rows_of_effects(), 1);
    }

    #[test]
    fn a_lost_answer_is_an_unknown_outcome_that_the_record_knows() {
        let bench = Bench::new();
        let guard = state_machine(&bench);
        let permit = bench.run(&*guard, 1);
        bench.database.lose_next_reply();
        assert_eq!(
            perform(&bench, &*guard, 1, &permit),
            Err(EffectError::Unknown)
        );
        assert_eq!(bench.record().unwrap().state, Some(RecordState::Succeeded));
    }

    #[test]
    fn without_a_record_every_attempt_is_an_effect() {
        let bench = Bench::new();
        let guard = bench.guard(&GuardConfig::default());
        let permit = bench.run(&*guard, 1);
        assert_eq!(perform(&bench, &*guard, 1, &permit), Ok(()));
        assert_eq!(perform(&bench, &*guard, 1, &permit), Ok(()));
        assert_eq!(bench.rows_of_effects(), 2);
        assert_eq!(bench.told(), []);
    }
}
