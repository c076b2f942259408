//! `unique`: a key in a lock service that says "this one is taken", for a run, a timer or a period.
//!
//! **Promises** that whoever comes while the key is there is answered success without running.
//! **Breaks** with `until = "done"` as soon as the run is over: a copy that comes later finds the
//! key gone. With `until = "retention"` the other way: a crash leaves a key that every redelivery
//! takes for the run's success, and a key by timer swallows the next slots. A key by period goes by
//! each instance's own clock: around the turn of a period two copies of a run have different keys.
//! **Source**: B31, B56.

use super::kind::Kind;
use super::record::tell;
use super::{Entry, Guard, GuardContext, Outcome, Permit, Settle, Visit};
use crate::dispatch::failed;
use crate::ports::{At, CallError, Fut, LockKey, Ports, Token};
use crate::span::positive;
use crate::{IdentityKey, Span, marks, steps};
use evidence::{Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "unique"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UniqueConfig {
    /// What there is one of. Default: of a run.
    pub by: UniqueBy,
    /// How long a period is, counted from the Unix epoch. Default 1 h.
    #[serde(deserialize_with = "positive")]
    pub period: Span,
    /// How long the key stays. Default: until the run is over.
    pub until: UniqueUntil,
    /// How long the key stays at most. Default 24 h.
    #[serde(deserialize_with = "positive")]
    pub retention: Span,
}

impl Default for UniqueConfig {
    fn default() -> Self {
        UniqueConfig {
            by: UniqueBy::Run,
            period: Span::secs(3600),
            until: UniqueUntil::Done,
            retention: Span::secs(24 * 3600),
        }
    }
}

/// What there is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UniqueBy {
    /// The run, by what `[identity] key` compares.
    #[default]
    Run,
    /// The timer: all its slots share one key.
    Timer,
    /// The timer and the period in which the visit's own wall clock is.
    Period,
}

/// How long the key stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UniqueUntil {
    /// Until the run is over, however it ended.
    #[default]
    Done,
    /// For `retention`, also after a success; a run that is to be tried again gives it back.
    Retention,
}

impl Kind for UniqueConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(Unique {
            ports: context.instance.ports.clone(),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        vec![&steps::LOCK_ACQUIRE, &steps::LOCK_RELEASE]
    }

    fn memory(&self) -> Option<(&'static str, Span)> {
        Some(("guard.retention", self.retention))
    }
}

struct Unique {
    ports: Ports,
    config: UniqueConfig,
}

impl Unique {
    fn key(&self, visit: &Visit<'_>) -> LockKey {
        let timer = || IdentityKey::TimerId.of(visit.ids);
        match self.config.by {
            UniqueBy::Run => visit.key.clone(),
            UniqueBy::Timer => timer(),
            UniqueBy::Period => {
                let now = self.ports.clock.now().0;
                let period = now.div_euclid(self.config.period.as_i64().max(1));
                format!("{}/{period}", timer()).into()
            }
        }
    }

    fn gives_back(&self, outcome: Outcome) -> bool {
        let again = matches!(outcome, Outcome::Retryable { .. } | Outcome::Cancelled);
        self.config.until == UniqueUntil::Done || again
    }
}

impl Guard for Unique {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let (step, key) = (&steps::LOCK_ACQUIRE, self.key(&visit));
            let (at, lives) = (At::new(step, visit.ids), Some(self.config.retention));
            let locks = &self.ports.locks;
            if locks
                .set_if_absent(at, &key, Token(visit.token), lives)
                .await?
            {
                return Ok(Entry::Run(Permit::first(visit.token)));
            }
            tell(&self.ports, step, visit.ids, What::SkippedTaken);
            self.ports.journal.mark(&marks::LOCK_BUSY);
            Ok(Entry::Taken)
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            if self.gives_back(outcome) {
                let (step, key) = (&steps::LOCK_RELEASE, self.key(&visit));
                let at = At::new(step, visit.ids);
                let owner = Some(Token(visit.token));
                // A key that is not given back is left to its retention.
                match self.ports.locks.delete(at, &key, owner).await {
                    Ok(true) => {}
                    Ok(false) => self.ports.journal.mark(&marks::LOCK_NOT_OURS),
                    Err(error) => tell(&self.ports, step, visit.ids, failed(error)),
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

    fn guard(bench: &Bench, config: UniqueConfig) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::Unique(config))
    }

    #[test]
    fn a_key_until_done_is_free_after_the_run_and_one_with_retention_is_not() {
        for (until, again) in [(UniqueUntil::Done, true), (UniqueUntil::Retention, false)] {
            let bench = Bench::new();
            let config = UniqueConfig {
                until,
                ..UniqueConfig::default()
            };
            let guard = guard(&bench, config);
            let permit = bench.run(&*guard, 1);
            assert_eq!(bench.enter(&*guard, 2), Entry::Taken);
            bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            let entered = matches!(bench.enter(&*guard, 3), Entry::Run(_));
            assert_eq!(entered, again, "{until:?}");
        }
    }

    #[test]
    fn what_is_to_be_tried_again_gives_the_key_back() {
        let bench = Bench::new();
        let config = UniqueConfig {
            until: UniqueUntil::Retention,
            ..UniqueConfig::default()
        };
        let guard = guard(&bench, config);
        let permit = bench.run(&*guard, 1);
        bench.finish(&*guard, 1, &permit, Outcome::Cancelled);
        bench.run(&*guard, 2);
    }

    #[test]
    fn a_key_by_period_is_another_one_in_the_next() {
        let bench = Bench::new();
        let config = UniqueConfig {
            by: UniqueBy::Period,
            period: Span::secs(10),
            ..UniqueConfig::default()
        };
        let guard = guard(&bench, config);
        bench.run(&*guard, 1);
        assert_eq!(bench.enter(&*guard, 2), Entry::Taken);
        bench.pass(Span::secs(10));
        bench.run(&*guard, 3);
    }
}
