//! `semaphore`: so many attempts of a key at once, counted in a row of the database, each with a
//! claim of its own that is pruned when its lease is over.
//!
//! **Promises** that no more attempts run at once than there are permits, as long as none outlasts
//! its lease.
//! **Breaks** where the work outlasts the lease: the claim is pruned, and its permit is another's.
//! With `release = "again"` the pruned attempt gives its permit back a second time when it ends:
//! the count drifts, and from then on one more gets in than should. It keeps no record of a run.
//! **Source**: B78.

use super::kind::Kind;
use super::record::tell;
use super::{BusyPolicy, Entry, Guard, GuardContext, LockBy, Outcome, Permit, Settle, Visit};
use crate::dispatch::failed;
use crate::ports::{
    Answer, At, CallError, Column, Condition, Expr, Fut, Key, OnConflict, Ports, Statement,
    Statements, Test, Value,
};
use crate::span::positive;
use crate::tables::{LOCKS, locks};
use crate::{Span, marks, steps};
use evidence::{Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "semaphore"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SemaphoreConfig {
    /// How many attempts may run at once. Default 1.
    pub permits: u16,
    /// A claim older than this is pruned, by whoever finds no permit. Default 45 s.
    #[serde(deserialize_with = "positive")]
    pub lease: Span,
    /// What an attempt does at its end whose claim was pruned. Default: nothing.
    pub release: Releases,
    /// What is counted. Default: the attempts of a run.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
    /// What happens to a message that gets no permit; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
}

impl Default for SemaphoreConfig {
    fn default() -> Self {
        SemaphoreConfig {
            permits: 1,
            lease: Span::secs(45),
            release: Releases::Once,
            lock_key: LockBy::Run,
            busy: None,
        }
    }
}

/// How often the permit of one claim is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Releases {
    /// Once: only together with the claim.
    #[default]
    Once,
    /// Whether or not the claim is still there.
    Again,
}

impl Kind for SemaphoreConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(Semaphore {
            ports: context.instance.ports.clone(),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        vec![
            &steps::GUARD_ENTER,
            &steps::GUARD_ENTER_READ,
            &steps::GUARD_ENTER_WRITE,
            &steps::GUARD_FINISH,
        ]
    }

    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        vec![("guard.lease", self.lease)]
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }
}

/// Of the counting row: how many permits are out.
const OUT: Column = locks::OWNER;
/// In [`locks::SINCE`] of a claim; a counting row has 0 there.
const CLAIM: i64 = 1;

struct Semaphore {
    ports: Ports,
    config: SemaphoreConfig,
}

fn insert(key: Key, cells: Vec<Expr>) -> Statement {
    Statement::Insert {
        table: LOCKS,
        key,
        cells,
        on_conflict: OnConflict::Ignore,
    }
}

fn claim_of(key: &Key, token: u64) -> Key {
    format!("{key}/{token}").into()
}

impl Semaphore {
    /// The counting row, if it is not there; then a permit, if one is left; and with it, in the same
    /// transaction, the claim.
    fn take(&self, visit: &Visit<'_>, key: &Key) -> Statements {
        let most = i64::from(self.config.permits) - 1;
        let until = Expr::Now {
            plus_ms: self.config.lease.as_i64(),
        };
        let token = Expr::from(visit.token as i64);
        vec![
            insert(
                key.clone(),
                vec![Expr::from(0), Expr::from(0), Expr::from(0)],
            ),
            Statement::Update {
                table: LOCKS,
                key: key.clone(),
                when: Condition::all([Test::AtMost(OUT, Expr::from(most))]),
                set: vec![(OUT, Expr::Plus(OUT, 1))],
                required: true,
            },
            insert(
                claim_of(key, visit.token),
                vec![until, token, Expr::from(CLAIM)],
            ),
        ]
    }

    /// One transaction: the claim goes, where it is still this owner's, and with it the permit.
    fn give_back(&self, key: &Key, claim: Key, token: i64, required: bool) -> Statements {
        vec![
            Statement::Update {
                table: LOCKS,
                key: claim.clone(),
                when: Condition::all([Test::Is(locks::OWNER, token)]),
                set: vec![(locks::OWNER, Expr::from(0))],
                required,
            },
            Statement::Update {
                table: LOCKS,
                key: key.clone(),
                when: Condition::always(),
                set: vec![(OUT, Expr::Plus(OUT, -1))],
                required: false,
            },
            Statement::Delete {
                table: LOCKS,
                key: claim,
                when: Condition::always(),
            },
        ]
    }

    /// Takes the permits of claims whose lease is over; true if there was one.
    async fn prune(&self, visit: &Visit<'_>, key: &Key) -> Result<bool, CallError> {
        let over = Condition::all([
            Test::Is(locks::SINCE, CLAIM),
            Test::AtMost(locks::UNTIL, Expr::Now { plus_ms: 0 }),
        ]);
        let scan = Statement::Scan {
            table: LOCKS,
            when: over,
        };
        let at = At::new(&steps::GUARD_ENTER_READ, visit.ids);
        let answers = self.ports.database.execute(at, vec![scan]).await?;
        let claims = format!("{key}/");
        let mut pruned = false;
        for row in answers.iter().flat_map(Answer::rows) {
            if !row.key.starts_with(&claims) {
                continue;
            }
            let owner = row.cells.get(usize::from(locks::OWNER.0));
            let owner = owner.map_or(0, Value::int);
            let at = At::new(&steps::GUARD_ENTER_WRITE, visit.ids);
            let statements = self.give_back(key, row.key.clone(), owner, true);
            let answers = self.ports.database.execute(at, statements).await?;
            pruned |= answers.first().is_some_and(Answer::changed);
        }
        Ok(pruned)
    }

    async fn enter(&self, visit: Visit<'_>) -> Result<Entry, CallError> {
        let key = self.config.lock_key.of(&visit);
        let step = &steps::GUARD_ENTER;
        loop {
            let at = At::new(step, visit.ids);
            let take = self.take(&visit, &key);
            let answers = self.ports.database.execute(at, take).await?;
            if answers.get(1).is_some_and(Answer::changed) {
                return Ok(Entry::Run(Permit::first(visit.token)));
            }
            if !self.prune(&visit, &key).await? {
                tell(&self.ports, step, visit.ids, What::Busy);
                self.ports.journal.mark(&marks::LOCK_BUSY);
                return Ok(Entry::Busy { retry_in: None });
            }
        }
    }
}

impl Guard for Semaphore {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(self.enter(visit))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let step = &steps::GUARD_FINISH;
            let key = self.config.lock_key.of(&visit);
            let claim = claim_of(&key, visit.token);
            let once = self.config.release == Releases::Once;
            let statements = self.give_back(&key, claim, visit.token as i64, once);
            let at = At::new(step, visit.ids);
            match self.ports.database.execute(at, statements).await {
                Ok(answers) if answers.first().is_some_and(Answer::changed) => {}
                Ok(_) => self.ports.journal.mark(&marks::LOCK_NOT_OURS),
                // A permit that is not given back is left to its lease.
                Err(error) => tell(&self.ports, step, visit.ids, failed(error)),
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

    fn guard(bench: &Bench, permits: u16, release: Releases) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::Semaphore(SemaphoreConfig {
            permits,
            release,
            ..SemaphoreConfig::default()
        }))
    }

    const BUSY: Entry = Entry::Busy { retry_in: None };

    #[test]
    fn as_many_get_in_as_there_are_permits_and_one_more_when_one_has_ended() {
        for permits in [1, 2, 3] {
            let bench = Bench::new();
            let guard = guard(&bench, permits, Releases::Once);
            for token in 1..=u64::from(permits) {
                bench.run(&*guard, token);
            }
            assert_eq!(bench.enter(&*guard, 8), BUSY);
            bench.finish(&*guard, 1, &Permit::first(1), Outcome::Succeeded);
            bench.run(&*guard, 8);
            assert_eq!(bench.enter(&*guard, 9), BUSY);
        }
    }

    #[test]
    fn a_claim_whose_lease_is_over_is_pruned() {
        let bench = Bench::new();
        let guard = guard(&bench, 1, Releases::Once);
        bench.run(&*guard, 1);
        bench.pass(Span::millis(44_999));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
        bench.pass(Span::millis(1));
        bench.run(&*guard, 2);
        assert_eq!(bench.enter(&*guard, 3), BUSY);
    }

    #[test]
    fn a_permit_that_is_given_back_again_lets_one_more_in() {
        for (release, third) in [(Releases::Once, false), (Releases::Again, true)] {
            let bench = Bench::new();
            let guard = guard(&bench, 1, release);
            let late = bench.run(&*guard, 1);
            bench.pass(Span::secs(45));
            bench.run(&*guard, 2);
            bench.finish(&*guard, 1, &late, Outcome::Succeeded);
            assert_eq!(bench.enter(&*guard, 3) != BUSY, third, "{release:?}");
        }
    }
}
