//! `optimistic_version`: a row with a state and a version; IDLE becomes RUNNING where both are
//! what was read, and IDLE again at the end.
//!
//! **Promises** that of two who have read the same version one gets in.
//! **Breaks** after the end (IDLE remembers no run: a redelivered one enters again); where the
//! holder dies: without a takeover the row is RUNNING for ever, and nobody gets in again; with one,
//! where the work outlasts it, and without an owner check at the end a late holder sets IDLE what
//! is another's by then.
//! **Source**: S1.11.

use super::kind::Kind;
use super::record::tell;
use super::{
    BusyPolicy, Entry, Guard, GuardContext, LockBy, Outcome, Permit, Settle, TimeSource, Visit,
};
use crate::dispatch::failed;
use crate::ports::{
    Answer, At, CallError, Condition, Expr, Fut, Key, OnConflict, Ports, RowLock, Statement, Test,
    Value,
};
use crate::tables::{LOCKS, locks};
use crate::{Span, Switchable, steps};
use evidence::{Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "optimistic_version"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimisticVersionConfig {
    /// Whether only the holder may set IDLE at the end. Default: no.
    pub owner_check: bool,
    /// RUNNING for longer than this counts as abandoned: another takes it over. Default: never.
    pub takeover_after: Switchable,
    /// Whose clock says when that is. Default: the database's, per statement.
    pub clock: TimeSource,
    /// What the row is of. Default: of a run.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
    /// What happens to a message whose row is RUNNING; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
}

impl Kind for OptimisticVersionConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(OptimisticVersion {
            ports: context.instance.ports.clone(),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        vec![
            &steps::GUARD_ENTER_READ,
            &steps::GUARD_ENTER_WRITE,
            &steps::GUARD_FINISH,
        ]
    }

    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        let takeover = self.takeover_after.0;
        takeover
            .map(|span| ("guard.takeover_after", span))
            .into_iter()
            .collect()
    }

    fn reads_node_clock(&self) -> bool {
        self.clock == TimeSource::Node && self.takeover_after.0.is_some()
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }
}

/// In [`locks::UNTIL`]: nobody is at work.
const IDLE: i64 = i64::MIN;
/// In [`locks::UNTIL`]: somebody is at work, without a takeover.
const RUNNING: i64 = i64::MAX;
/// The version stands where other lock rows say since when they are held.
const VERSION: crate::ports::Column = locks::SINCE;

struct OptimisticVersion {
    ports: Ports,
    config: OptimisticVersionConfig,
}

impl OptimisticVersion {
    fn now(&self, plus: Span) -> Expr {
        self.config.clock.now(&*self.ports.clock, plus.as_i64())
    }

    /// The version of the row, which is made where there is none.
    async fn version(&self, visit: &Visit<'_>, key: &Key) -> Result<i64, CallError> {
        let statements = vec![
            Statement::Insert {
                table: LOCKS,
                key: key.clone(),
                cells: vec![Expr::from(IDLE), Expr::from(0), Expr::from(0)],
                on_conflict: OnConflict::Ignore,
            },
            Statement::Select {
                table: LOCKS,
                key: key.clone(),
                lock: RowLock::None,
            },
        ];
        let at = At::new(&steps::GUARD_ENTER_READ, visit.ids);
        let answers = self.ports.database.execute(at, statements).await?;
        let row = answers.last().and_then(|answer| answer.rows().first());
        let cell = row.and_then(|row| row.cells.get(usize::from(VERSION.0)));
        Ok(cell.map_or(0, Value::int))
    }

    /// RUNNING, if it is IDLE (or to be taken over) and still at the version that was read.
    fn start(&self, visit: &Visit<'_>, key: Key, version: i64) -> Statement {
        let until = match self.config.takeover_after.0 {
            Some(span) => self.now(span),
            None => Expr::from(RUNNING),
        };
        Statement::Update {
            table: LOCKS,
            key,
            when: Condition::all([
                Test::Is(VERSION, version),
                Test::AtMost(locks::UNTIL, self.now(Span::ZERO)),
            ]),
            set: vec![
                (locks::UNTIL, until),
                (locks::OWNER, Expr::from(visit.token as i64)),
                (VERSION, Expr::Plus(VERSION, 1)),
            ],
            required: false,
        }
    }

    fn idle(&self, visit: &Visit<'_>) -> Statement {
        let mine = self.config.owner_check;
        let mine = mine.then_some(Test::Is(locks::OWNER, visit.token as i64));
        Statement::Update {
            table: LOCKS,
            key: self.config.lock_key.of(visit),
            when: Condition::all(mine),
            set: vec![
                (locks::UNTIL, Expr::from(IDLE)),
                (VERSION, Expr::Plus(VERSION, 1)),
            ],
            required: false,
        }
    }
}

impl Guard for OptimisticVersion {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let key = self.config.lock_key.of(&visit);
            let version = self.version(&visit, &key).await?;
            let step = &steps::GUARD_ENTER_WRITE;
            let statements = vec![self.start(&visit, key, version)];
            let at = At::new(step, visit.ids);
            let answers = self.ports.database.execute(at, statements).await?;
            if answers.last().is_some_and(Answer::changed) {
                return Ok(Entry::Run(Permit::first(visit.token)));
            }
            tell(&self.ports, step, visit.ids, What::Busy);
            Ok(Entry::Busy { retry_in: None })
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let step = &steps::GUARD_FINISH;
            let idle = vec![self.idle(&visit)];
            let at = At::new(step, visit.ids);
            // What is not set IDLE stays RUNNING, until it is taken over.
            if let Err(error) = self.ports.database.execute(at, idle).await {
                tell(&self.ports, step, visit.ids, failed(error));
            }
            Ok(outcome.settle_without_record())
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::memory::bench::{Bench, interleaved};

    fn guard(bench: &Bench, owner_check: bool, takeover: Option<Span>) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::OptimisticVersion(OptimisticVersionConfig {
            owner_check,
            takeover_after: Switchable(takeover),
            ..OptimisticVersionConfig::default()
        }))
    }

    const BUSY: Entry = Entry::Busy { retry_in: None };

    #[test]
    fn of_two_who_have_read_the_same_version_one_gets_in() {
        let bench = Bench::new();
        let guard = guard(&bench, false, None);
        let (one, other) = interleaved(&bench, &*guard);
        assert_eq!(one, Entry::Run(Permit::first(1)));
        assert_eq!(other, BUSY);
    }

    #[test]
    fn whoever_never_ends_leaves_it_running_for_ever_unless_it_is_taken_over() {
        let bench = Bench::new();
        let for_ever = guard(&bench, false, None);
        bench.run(&*for_ever, 1);
        bench.pass(Span::secs(1_000_000));
        assert_eq!(bench.enter(&*for_ever, 2), BUSY);

        let bench = Bench::new();
        let taken_over = guard(&bench, false, Some(Span::secs(30)));
        bench.run(&*taken_over, 1);
        bench.pass(Span::secs(30));
        bench.run(&*taken_over, 2);
    }

    #[test]
    fn without_an_owner_check_a_late_end_lets_a_third_in() {
        for (owner_check, third) in [(true, false), (false, true)] {
            let bench = Bench::new();
            let guard = guard(&bench, owner_check, Some(Span::secs(30)));
            let late = bench.run(&*guard, 1);
            bench.pass(Span::secs(30));
            bench.run(&*guard, 2);
            bench.finish(&*guard, 1, &late, Outcome::Succeeded);
            assert_eq!(bench.enter(&*guard, 3) != BUSY, third, "{owner_check}");
        }
    }

    #[test]
    fn a_run_that_is_done_enters_again() {
        let bench = Bench::new();
        let guard = guard(&bench, true, None);
        let permit = bench.run(&*guard, 1);
        bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        bench.run(&*guard, 2);
    }
}
