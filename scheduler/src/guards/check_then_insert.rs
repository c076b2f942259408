//! `check_then_insert`: look whether the run is recorded; if not, record it and go on.
//!
//! **Promises** that a run is skipped once its row can be seen.
//! **Breaks** between the look and the row: two deliveries that look at the same moment both go on,
//! unless a unique index refuses the second row; then it breaks as `insert_first` does. With the
//! row inserted after the work, the gap is as long as the work.
//! **Source**: S0.13, S0.14, S2.2.

use super::insert_first::{enter_by_insert, insert_running, mark, mark_succeeded};
use super::kind::Kind;
use super::record::{self, Record, found, tell};
use super::{Entry, Guard, GuardContext, Outcome, Permit, Settle, Visit};
use crate::ports::{
    Answer, At, CallError, Expr, Fut, OnConflict, Ports, RowLock, Statement, Statements, Value,
};
use crate::steps;
use evidence::{RecordState, Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "check_then_insert"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckThenInsertConfig {
    /// Whether the database refuses a second row with the same key. Default: no.
    pub unique_index: bool,
    /// When the row is inserted. Default: before the work.
    pub insert: InsertWhen,
}

/// When the row is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertWhen {
    /// Before the work, as RUNNING.
    #[default]
    Before,
    /// After the work, as SUCCEEDED: a crash between work and insert is run again.
    After,
}

impl Kind for CheckThenInsertConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(CheckThenInsert {
            ports: context.instance.ports.clone(),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls = vec![&steps::GUARD_ENTER_READ, &steps::GUARD_FINISH];
        if self.insert == InsertWhen::Before {
            calls.push(&steps::GUARD_ENTER_WRITE);
        }
        calls
    }

    fn keeps_record(&self) -> bool {
        true
    }
}

struct CheckThenInsert {
    ports: Ports,
    config: CheckThenInsertConfig,
}

impl CheckThenInsert {
    /// Without a unique index a second row goes in beside the first. The table of runs holds one
    /// row a key, so that the second is left out, and nobody hears of it.
    fn on_conflict(&self) -> OnConflict {
        if self.config.unique_index {
            OnConflict::Abort
        } else {
            OnConflict::Ignore
        }
    }

    fn insert_succeeded(&self, visit: &Visit<'_>) -> Statement {
        let no_lease = Expr::Value(Value::Null);
        record::insert(visit, RecordState::Succeeded, no_lease, self.on_conflict())
    }

    /// `None`: no row, go on.
    async fn check(&self, visit: &Visit<'_>) -> Result<Option<Entry>, CallError> {
        let step = &steps::GUARD_ENTER_READ;
        let statements = vec![record::select(visit.key, RowLock::None)];
        let answers = self
            .ports
            .database
            .execute(At::new(step, visit.ids), statements)
            .await?;
        let Some(record) = Record::of(&answers) else {
            return Ok(None);
        };
        Ok(Some(found(&self.ports, step, visit, record)))
    }

    async fn insert_after(&self, visit: Visit<'_>, outcome: Outcome) -> Result<Settle, CallError> {
        if outcome == Outcome::Succeeded {
            let step = &steps::GUARD_FINISH;
            let statements = vec![self.insert_succeeded(&visit)];
            let answers = self
                .ports
                .database
                .execute(At::new(step, visit.ids), statements)
                .await?;
            // A row that is there already says the same.
            if answers.last().is_some_and(Answer::changed) {
                let what = What::Recorded(RecordState::Succeeded);
                tell(&self.ports, step, visit.ids, what);
            }
        }
        Ok(outcome.settle_without_record())
    }
}

impl Guard for CheckThenInsert {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            if let Some(entry) = self.check(&visit).await? {
                return Ok(entry);
            }
            match self.config.insert {
                InsertWhen::Before => {
                    let at = At::new(&steps::GUARD_ENTER_WRITE, visit.ids);
                    let insert = insert_running(&visit, self.on_conflict());
                    enter_by_insert(&self.ports, &visit, at, insert).await
                }
                InsertWhen::After => Ok(Entry::Run(Permit::first(visit.token))),
            }
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        match self.config.insert {
            InsertWhen::Before => Box::pin(mark(&self.ports, visit, outcome)),
            InsertWhen::After => Box::pin(self.insert_after(visit, outcome)),
        }
    }

    fn record_success(&self, visit: Visit<'_>, _: &Permit) -> Statements {
        match self.config.insert {
            InsertWhen::Before => mark_succeeded(&visit),
            InsertWhen::After => {
                vec![self.insert_succeeded(&visit)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::Span;
    use crate::memory::bench::{Bench, interleaved};

    fn guard(bench: &Bench, unique_index: bool, insert: InsertWhen) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::CheckThenInsert(CheckThenInsertConfig {
            unique_index,
            insert,
        }))
    }

    fn runs(entry: &Entry) -> bool {
        matches!(entry, Entry::Run(_))
    }

    #[test]
    fn one_after_the_other_only_the_first_runs() {
        for insert in [InsertWhen::Before, InsertWhen::After] {
            let bench = Bench::new();
            let guard = guard(&bench, false, insert);
            let permit = bench.run(&*guard, 1);
            bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            assert_eq!(bench.enter(&*guard, 2), Entry::Done, "{insert:?}");
            assert_eq!(bench.told().last(), Some(&What::SkippedDone));
        }
    }

    #[test]
    fn two_that_look_at_the_same_moment_both_run_without_a_unique_index() {
        let bench = Bench::new();
        let guard = guard(&bench, false, InsertWhen::Before);
        let (one, other) = interleaved(&bench, &*guard);
        assert!(runs(&one) && runs(&other), "{one:?} {other:?}");
    }

    #[test]
    fn a_unique_index_stops_the_second_of_two_that_look_at_the_same_moment() {
        let bench = Bench::new();
        let guard = guard(&bench, true, InsertWhen::Before);
        let (one, other) = interleaved(&bench, &*guard);
        assert!(runs(&one));
        assert_eq!(other, Entry::Taken);
    }

    #[test]
    fn an_unfinished_run_is_skipped_where_the_row_comes_first_and_run_where_it_comes_last() {
        let bench = Bench::new();
        let before = guard(&bench, false, InsertWhen::Before);
        bench.run(&*before, 1);
        assert_eq!(bench.enter(&*before, 2), Entry::Taken);

        let bench = Bench::new();
        let after = guard(&bench, true, InsertWhen::After);
        bench.run(&*after, 1);
        bench.run(&*after, 2);
    }

    #[test]
    fn a_failed_run_is_never_tried_again_where_the_row_comes_first() {
        let bench = Bench::new();
        let guard = guard(&bench, false, InsertWhen::Before);
        let permit = bench.run(&*guard, 1);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Final),
            Settle::Defer(Span::ZERO)
        );
        assert_eq!(bench.enter(&*guard, 2), Entry::Taken);
    }

    #[test]
    fn a_failed_run_leaves_no_row_where_the_row_comes_last() {
        let bench = Bench::new();
        let guard = guard(&bench, true, InsertWhen::After);
        let permit = bench.run(&*guard, 1);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Final),
            Settle::Reject
        );
        assert_eq!(bench.record(), None);
    }
}
