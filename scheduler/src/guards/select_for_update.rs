//! `select_for_update`: BEGIN; SELECT .. FOR UPDATE of the run's row; if there is none, INSERT it.
//!
//! **Promises** that a run whose row exists is not run again, and that whoever looks while another
//! holds the row waits for it.
//! **Breaks** where the row does not exist: there is nothing to lock. In PostgreSQL both who look
//! find nothing and both insert; in MariaDB both share the lock of the gap, and both inserts wait
//! for it: a deadlock, of which one is the victim and looks again. Only a unique index stops the
//! second insert, and only work that comes after the insert. The isolation is that of `[database]`.
//! **Source**: S2.3.

use super::insert_first::{insert_running, mark, mark_succeeded};
use super::kind::Kind;
use super::open::Open;
use super::record::{self, Record, found, tell};
use super::{Entry, Guard, GuardContext, Outcome, Permit, Settle, Visit};
use crate::dispatch::failed;
use crate::ports::{
    Answer, At, CallError, Condition, Expr, Fut, Isolation, OnConflict, Ports, RowLock, Statements,
    Value,
};
use crate::{Span, marks, steps};
use evidence::{RecordState, Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "select_for_update"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelectForUpdateConfig {
    /// Whether the database refuses a second row with the same key. Default: no.
    pub unique_index: bool,
    /// When the work is done. Default: after the transaction.
    pub work: WorkWhen,
}

/// When the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkWhen {
    /// After the transaction, which has inserted the row RUNNING: a crash leaves it behind.
    #[default]
    After,
    /// Inside it, after the insert; the commit comes last.
    Inside,
    /// Inside it, before the insert.
    BeforeInsert,
}

impl Kind for SelectForUpdateConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(SelectForUpdate {
            ports: context.instance.ports.clone(),
            config: self.clone(),
            open: Open::default(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls = vec![&steps::GUARD_ENTER_READ, &steps::GUARD_FINISH];
        if self.work != WorkWhen::BeforeInsert {
            calls.push(&steps::GUARD_ENTER_WRITE);
        }
        calls
    }

    fn keeps_record(&self) -> bool {
        true
    }

    fn holds_sessions(&self) -> bool {
        true
    }
}

struct SelectForUpdate {
    ports: Ports,
    config: SelectForUpdateConfig,
    open: Open,
}

impl SelectForUpdate {
    /// Without a unique index a second row goes in beside the first. The table of runs holds one
    /// row a key, so that the second is left out, and nobody hears of it.
    fn on_conflict(&self) -> OnConflict {
        match self.config.unique_index {
            true => OnConflict::Abort,
            false => OnConflict::Ignore,
        }
    }

    async fn enter(&self, visit: Visit<'_>) -> Result<Entry, CallError> {
        let mut transaction = self.ports.database.begin(Isolation::default());
        let (read, write) = (&steps::GUARD_ENTER_READ, &steps::GUARD_ENTER_WRITE);
        let look = vec![record::select(visit.key, RowLock::ForUpdate)];
        let answers = transaction
            .execute(At::new(read, visit.ids), look, false)
            .await?;
        if let Some(record) = Record::of(&answers) {
            return Ok(found(&self.ports, read, &visit, record));
        }
        let run = Ok(Entry::Run(Permit::first(visit.token)));
        if self.config.work == WorkWhen::BeforeInsert {
            self.open.keep(&visit, transaction);
            return run;
        }
        let after = self.config.work == WorkWhen::After;
        let insert = vec![insert_running(&visit, self.on_conflict())];
        let at = At::new(write, visit.ids);
        let answers = transaction.execute(at, insert, after).await?;
        if answers.last() == Some(&Answer::Conflict) {
            tell(&self.ports, write, visit.ids, What::SkippedTaken);
            self.ports.journal.mark(&marks::ROW_CONFLICT);
            return Ok(Entry::Taken);
        }
        if after {
            let what = What::Recorded(RecordState::Running);
            tell(&self.ports, write, visit.ids, what);
        } else {
            self.open.keep(&visit, transaction);
        }
        run
    }

    fn done(&self, visit: &Visit<'_>) -> Statements {
        vec![match self.config.work {
            WorkWhen::BeforeInsert => {
                let no_lease = Expr::Value(Value::Null);
                record::insert(visit, RecordState::Succeeded, no_lease, self.on_conflict())
            }
            _ => record::update(
                visit.key,
                Condition::always(),
                vec![record::state(RecordState::Succeeded)],
            ),
        }]
    }

    /// Ends the transaction in which the work was done. What is not committed is given back, as an
    /// exception does.
    async fn end(&self, visit: Visit<'_>, outcome: Outcome) -> Settle {
        let transaction = self.open.take(&visit);
        if outcome != Outcome::Succeeded {
            return outcome.settle_without_record();
        }
        let again = Settle::Defer(Span::ZERO);
        let Some(mut transaction) = transaction else {
            return again;
        };
        let step = &steps::GUARD_FINISH;
        let at = At::new(step, visit.ids);
        match transaction.execute(at, self.done(&visit), true).await {
            Ok(answers) if answers.last() == Some(&Answer::Conflict) => {
                tell(&self.ports, step, visit.ids, What::RecordRefused);
                self.ports.journal.mark(&marks::ROW_CONFLICT);
                again
            }
            Ok(_) => {
                let what = What::Recorded(RecordState::Succeeded);
                tell(&self.ports, step, visit.ids, what);
                Settle::Ack
            }
            Err(error) => {
                tell(&self.ports, step, visit.ids, failed(error));
                again
            }
        }
    }
}

impl Guard for SelectForUpdate {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(self.enter(visit))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        match self.config.work {
            WorkWhen::After => Box::pin(mark(&self.ports, visit, outcome)),
            _ => Box::pin(async move { Ok(self.end(visit, outcome).await) }),
        }
    }

    /// Where the work is inside a transaction of its own, another one would wait for the row.
    fn record_success(&self, visit: Visit<'_>, _: &Permit) -> Statements {
        match self.config.work {
            WorkWhen::After => mark_succeeded(&visit),
            _ => Statements::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::memory::bench::Bench;

    fn guard(bench: &Bench, work: WorkWhen) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::SelectForUpdate(SelectForUpdateConfig {
            unique_index: false,
            work,
        }))
    }

    const WHEN: [WorkWhen; 3] = [WorkWhen::After, WorkWhen::Inside, WorkWhen::BeforeInsert];

    #[test]
    fn one_after_the_other_only_the_first_runs() {
        for work in WHEN {
            let bench = Bench::new();
            let guard = guard(&bench, work);
            let permit = bench.run(&*guard, 1);
            let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            assert_eq!(settle, Settle::Ack, "{work:?}");
            assert_eq!(bench.enter(&*guard, 2), Entry::Done, "{work:?}");
            let state = bench.record().unwrap().state;
            assert_eq!(state, Some(RecordState::Succeeded));
        }
    }

    #[test]
    fn a_failure_inside_the_transaction_leaves_no_row_and_after_it_a_failed_one() {
        for (work, left) in [
            (WorkWhen::After, Some(RecordState::Failed)),
            (WorkWhen::Inside, None),
            (WorkWhen::BeforeInsert, None),
        ] {
            let bench = Bench::new();
            let guard = guard(&bench, work);
            let permit = bench.run(&*guard, 1);
            bench.finish(&*guard, 1, &permit, Outcome::Final);
            assert_eq!(bench.record().and_then(|row| row.state), left, "{work:?}");
        }
    }

    #[test]
    fn a_transaction_that_is_lost_gives_the_message_back() {
        let bench = Bench::new();
        let guard = guard(&bench, WorkWhen::Inside);
        let permit = Permit::first(1);
        let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        assert_eq!(settle, Settle::Defer(Span::ZERO));
    }
}
