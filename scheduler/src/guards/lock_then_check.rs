//! `lock_then_check`: a lock with a time to live, and inside it a look whether the run is recorded.
//!
//! **Promises** what the lock promises while it is held, and that a run whose row can be seen is
//! skipped after the release: what a lock alone forgets.
//! **Breaks** where the work outlasts the time to live and the row comes after the work: the next
//! one finds the lock free and no row. With the row before the work, whoever dies in between leaves
//! a row that every redelivery skips. With zero wait and `busy = "drop"` a message is dropped while
//! the lock of a holder that died is still there.
//! **Source**: S2.5.

use super::check_then_insert::{CheckThenInsertConfig, InsertWhen};
use super::kind::Kind;
use super::redis_lock::{RedisLock, RedisLockConfig, Unlock};
use super::{
    BusyPolicy, Entry, Guard, GuardContext, LockBy, OnLost, Outcome, Permit, Settle, Visit,
};
use crate::ports::{CallError, Fut, Ports, Statements};
use crate::span::positive;
use crate::{Span, Switchable};
use evidence::Step;
use serde::{Deserialize, Serialize};

/// `kind = "lock_then_check"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockThenCheckConfig {
    /// How long the lock lives without renewal. Default 10 s.
    #[serde(deserialize_with = "positive")]
    pub ttl: Span,
    /// How often the holder extends it. Default: never.
    pub renew_every: Switchable,
    /// How long a visit waits for the lock before it counts as busy. Default: not at all.
    pub wait: Span,
    /// How the lock is given back. Default: by its owner only.
    pub release: Unlock,
    /// When the row is inserted. Default: before the work.
    pub insert: InsertWhen,
    /// Whether the database refuses a second row with the same key. Default: no.
    pub unique_index: bool,
    /// What is locked. Default: the run. The row is always the run's.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
    /// What happens to a message whose key is locked; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
    /// What happens to the work when the lock is found lost. Default: it goes on.
    pub on_lost: OnLost,
}

impl Default for LockThenCheckConfig {
    fn default() -> Self {
        LockThenCheckConfig {
            ttl: Span::secs(10),
            renew_every: Switchable(None),
            wait: Span::ZERO,
            release: Unlock::OwnerChecked,
            insert: InsertWhen::Before,
            unique_index: false,
            lock_key: LockBy::Run,
            busy: None,
            on_lost: OnLost::Continue,
        }
    }
}

impl LockThenCheckConfig {
    fn lock(&self) -> RedisLockConfig {
        RedisLockConfig {
            ttl: self.ttl,
            renew_every: Some(self.renew_every),
            release: self.release,
            lock_key: self.lock_key,
            on_lost: self.on_lost,
            ..RedisLockConfig::default()
        }
    }

    fn check(&self) -> CheckThenInsertConfig {
        CheckThenInsertConfig {
            unique_index: self.unique_index,
            insert: self.insert,
        }
    }
}

impl Kind for LockThenCheckConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(LockThenCheck {
            ports: context.instance.ports.clone(),
            lock: RedisLock::new(self.lock(), context),
            check: self.check().build(context),
            wait: self.wait,
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls = self.lock().calls();
        calls.extend(self.check().calls());
        calls
    }

    fn keeps_record(&self) -> bool {
        true
    }

    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        let mut deadlines = self.lock().deadlines();
        if self.wait > Span::ZERO {
            deadlines.push(("guard.wait", self.wait));
        }
        deadlines
    }

    fn renewal(&self) -> Option<Span> {
        self.renew_every.0
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }

    fn on_lost(&self) -> OnLost {
        self.on_lost
    }
}

/// How often a visit that waits asks for the lock again.
const ASKS_EVERY: Span = Span::millis(500);

struct LockThenCheck {
    ports: Ports,
    lock: RedisLock,
    check: Box<dyn Guard>,
    wait: Span,
}

impl LockThenCheck {
    /// The lock's answer, asked for as long as a visit waits.
    async fn locked(&self, visit: Visit<'_>) -> Result<Entry, CallError> {
        let runtime = &self.ports.runtime;
        let until = runtime.monotonic().plus(self.wait);
        loop {
            let entry = self.lock.enter(visit).await?;
            let busy = matches!(entry, Entry::Busy { .. });
            if !busy || runtime.monotonic() >= until {
                return Ok(entry);
            }
            runtime.sleep(ASKS_EVERY.min(self.wait)).await;
        }
    }

    /// The lock is given back whatever the look came to, as `finally` does.
    async fn enter(&self, visit: Visit<'_>) -> Result<Entry, CallError> {
        let locked = self.locked(visit).await?;
        if !matches!(locked, Entry::Run(_)) {
            return Ok(locked);
        }
        let entry = self.check.enter(visit).await;
        if !matches!(entry, Ok(Entry::Run(_))) {
            self.lock.release(&visit).await;
        }
        entry
    }
}

impl Guard for LockThenCheck {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(self.enter(visit))
    }

    fn hold<'a>(&'a self, visit: Visit<'a>, permit: &'a Permit) -> Option<Fut<'a, ()>> {
        self.lock.hold(visit, permit)
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let settle = self.check.finish(visit, permit, outcome).await?;
            self.lock.release(&visit).await;
            Ok(settle)
        })
    }

    fn record_success(&self, visit: Visit<'_>, permit: &Permit) -> Statements {
        self.check.record_success(visit, permit)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::memory::bench::Bench;

    fn guard(bench: &Bench, insert: InsertWhen) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::LockThenCheck(LockThenCheckConfig {
            insert,
            ..LockThenCheckConfig::default()
        }))
    }

    const BUSY: Entry = Entry::Busy { retry_in: None };

    #[test]
    fn while_the_lock_is_held_it_is_busy_and_a_run_that_is_done_is_skipped_after_the_release() {
        for insert in [InsertWhen::Before, InsertWhen::After] {
            let bench = Bench::new();
            let guard = guard(&bench, insert);
            let permit = bench.run(&*guard, 1);
            assert_eq!(bench.enter(&*guard, 2), BUSY, "{insert:?}");
            bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            assert_eq!(bench.enter(&*guard, 3), Entry::Done, "{insert:?}");
            // The look gave the lock back.
            assert_eq!(bench.enter(&*guard, 4), Entry::Done, "{insert:?}");
        }
    }

    #[test]
    fn a_lock_that_ends_before_the_row_is_there_lets_a_second_in() {
        for (insert, second) in [(InsertWhen::Before, false), (InsertWhen::After, true)] {
            let bench = Bench::new();
            let guard = guard(&bench, insert);
            bench.run(&*guard, 1);
            bench.pass(Span::secs(10));
            let entered = matches!(bench.enter(&*guard, 2), Entry::Run(_));
            assert_eq!(entered, second, "{insert:?}");
        }
    }
}
