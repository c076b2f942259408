//! `lock_row`: a row in the database that says who is inside, until when.
//!
//! **Promises** that two attempts of a key do not run at once, as long as none lasts longer than
//! `max_hold` on the clock that is asked.
//! **Breaks** after the release: a lock keeps no record, so that a redelivered run enters again;
//! where work lasts longer than `max_hold`; with `clock = "node"`, where clocks differ by more than
//! is left of the hold. Whoever does not hear of its own lock waits for it until `max_hold`.
//! **Source**: S0.10, S1.10 (takeover after a while), ShedLock's lockAtLeastFor and lockAtMostFor.

use super::kind::Kind;
use super::record::tell;
use super::{
    BusyPolicy, Entry, Guard, GuardContext, LockBy, Outcome, Permit, Release, Settle, TimeSource,
    Visit,
};
use crate::Span;
use crate::dispatch::failed;
use crate::ports::{
    Answer, At, CallError, Condition, Expr, Fut, OnConflict, Ports, Statement, Statements, Test,
};
use crate::span::positive;
use crate::steps;
use crate::tables::{LOCKS, locks};
use evidence::{Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "lock_row"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockRowConfig {
    /// A hold longer than this counts as abandoned: another takes it over. Also written
    /// `takeover_after`. Default 40 s.
    #[serde(alias = "takeover_after", deserialize_with = "positive")]
    pub max_hold: Span,
    /// The row stays locked at least this long after it was taken, even if the work is done
    /// sooner. Default 0 s.
    pub min_hold: Span,
    /// Whose clock says when a hold has ended. Default: each instance's own.
    pub clock: TimeSource,
    /// How the row is given back. Default: by its owner only.
    pub release: Release,
    /// What is locked. Default: the run.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
    /// What happens to a message whose row is locked; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
}

impl Default for LockRowConfig {
    fn default() -> Self {
        LockRowConfig {
            max_hold: Span::secs(40),
            min_hold: Span::ZERO,
            clock: TimeSource::Node,
            release: Release::OwnerChecked,
            lock_key: LockBy::Run,
            busy: None,
        }
    }
}

impl Kind for LockRowConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(LockRow {
            ports: context.instance.ports.clone(),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        match self.release {
            Release::Off => vec![&steps::GUARD_ENTER],
            _ => vec![&steps::GUARD_ENTER, &steps::GUARD_FINISH],
        }
    }

    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        let mut deadlines = vec![("guard.max_hold", self.max_hold)];
        if self.min_hold > Span::ZERO {
            deadlines.push(("guard.min_hold", self.min_hold));
        }
        deadlines
    }

    fn reads_node_clock(&self) -> bool {
        self.clock == TimeSource::Node
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }
}

struct LockRow {
    ports: Ports,
    config: LockRowConfig,
}

impl LockRow {
    fn now(&self, plus: Span) -> Expr {
        self.config.clock.now(&*self.ports.clock, plus.as_i64())
    }

    /// The row, if it is not there; then the lock, if it is free.
    fn take(&self, visit: &Visit<'_>) -> Statements {
        vec![
            Statement::Insert {
                table: LOCKS,
                key: self.config.lock_key.of(visit),
                cells: vec![Expr::from(i64::MIN), Expr::from(0), Expr::from(0)],
                on_conflict: OnConflict::Ignore,
            },
            Statement::Update {
                table: LOCKS,
                key: self.config.lock_key.of(visit),
                when: Condition::all([Test::AtMost(locks::UNTIL, self.now(Span::ZERO))]),
                set: vec![
                    (locks::UNTIL, self.now(self.config.max_hold)),
                    (locks::OWNER, Expr::from(visit.token as i64)),
                    (locks::SINCE, self.now(Span::ZERO)),
                ],
                required: false,
            },
        ]
    }

    /// Free from now on, but not before the row has been held for `min_hold`.
    fn give_back(&self, visit: &Visit<'_>) -> Statements {
        let mine = || match self.config.release {
            Release::Blind => None,
            _ => Some(Test::Is(locks::OWNER, visit.token as i64)),
        };
        let free = |when: Condition, from: Expr| Statement::Update {
            table: LOCKS,
            key: self.config.lock_key.of(visit),
            when,
            set: vec![(locks::UNTIL, from)],
            required: false,
        };
        let mut statements = vec![free(Condition::all(mine()), self.now(Span::ZERO))];
        if self.config.min_hold > Span::ZERO {
            let earliest = Expr::Plus(locks::SINCE, self.config.min_hold.as_i64());
            let too_early = Test::AtMost(locks::UNTIL, earliest.clone());
            let when = Condition::all(mine().into_iter().chain([too_early]));
            statements.push(free(when, earliest));
        }
        statements
    }
}

impl Guard for LockRow {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let step = &steps::GUARD_ENTER;
            let at = At::new(step, visit.ids);
            let answers = self.ports.database.execute(at, self.take(&visit)).await?;
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
            if self.config.release != Release::Off {
                let step = &steps::GUARD_FINISH;
                let at = At::new(step, visit.ids);
                // A release that fails leaves the row to max_hold.
                if let Err(error) = self
                    .ports
                    .database
                    .execute(at, self.give_back(&visit))
                    .await
                {
                    tell(&self.ports, step, visit.ids, failed(error));
                }
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
    use crate::memory::bench::Bench;

    fn guard(bench: &Bench, config: LockRowConfig) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::LockRow(config))
    }

    const BUSY: Entry = Entry::Busy { retry_in: None };

    #[test]
    fn while_it_is_held_nobody_else_enters_and_after_the_release_everybody_may() {
        for clock in [TimeSource::Node, TimeSource::Statement] {
            let bench = Bench::new();
            let guard = guard(
                &bench,
                LockRowConfig {
                    clock,
                    ..LockRowConfig::default()
                },
            );
            let permit = bench.run(&*guard, 1);
            assert_eq!(bench.enter(&*guard, 2), BUSY);
            bench.pass(Span::secs(1));
            let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            assert_eq!(settle, Settle::Ack);
            bench.run(&*guard, 3);
        }
    }

    #[test]
    fn a_hold_longer_than_max_hold_is_taken_over() {
        let bench = Bench::new();
        let guard = guard(&bench, LockRowConfig::default());
        bench.run(&*guard, 1);
        bench.pass(Span::millis(39_999));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
        bench.pass(Span::millis(1));
        bench.run(&*guard, 2);
    }

    #[test]
    fn min_hold_outlasts_a_short_run() {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            LockRowConfig {
                min_hold: Span::secs(10),
                ..LockRowConfig::default()
            },
        );
        let permit = bench.run(&*guard, 1);
        bench.pass(Span::secs(2));
        bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        bench.pass(Span::millis(7_999));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
        bench.pass(Span::millis(1));
        bench.run(&*guard, 2);
    }

    #[test]
    fn only_a_blind_release_frees_the_row_of_the_next_owner() {
        for (release, next) in [(Release::OwnerChecked, true), (Release::Blind, false)] {
            let bench = Bench::new();
            let guard = guard(
                &bench,
                LockRowConfig {
                    release,
                    ..LockRowConfig::default()
                },
            );
            let late = bench.run(&*guard, 1);
            bench.pass(Span::secs(40));
            bench.run(&*guard, 2);
            bench.finish(&*guard, 1, &late, Outcome::Succeeded);
            let held = bench.enter(&*guard, 3) == BUSY;
            assert_eq!(held, next, "{release:?}");
        }
    }

    #[test]
    fn without_a_release_the_row_is_locked_until_max_hold() {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            LockRowConfig {
                release: Release::Off,
                ..LockRowConfig::default()
            },
        );
        let permit = bench.run(&*guard, 1);
        bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        assert_eq!(bench.enter(&*guard, 2), BUSY);
        bench.pass(Span::secs(40));
        bench.run(&*guard, 2);
    }

    #[test]
    fn a_release_that_fails_does_not_keep_the_message() {
        let bench = Bench::new();
        let guard = guard(&bench, LockRowConfig::default());
        let permit = bench.run(&*guard, 1);
        bench.database.refuse_next();
        let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        assert_eq!(settle, Settle::Ack);
        assert_eq!(bench.told(), [What::Failed { request: true }]);
    }

    #[test]
    fn an_instance_whose_clock_is_ahead_takes_over_too_early() {
        let bench = Bench::new();
        let guard = guard(&bench, LockRowConfig::default());
        bench.run(&*guard, 1);
        bench.skew_ms(40_000);
        bench.run(&*guard, 2);
    }
}
