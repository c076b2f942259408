//! `redis_lock`: a key with an owner and a time to live in a lock service.
//!
//! **Promises** that two attempts of a key do not run at once, as long as the holder renews in time.
//! **Breaks** after the release (a lock keeps no record: a redelivered run enters again); where the
//! TTL ends before the work (no renewal, or a pause longer than the TTL); with a blind release, that
//! of a late holder frees the lock of the next; with a two-step acquire, a crash between the steps
//! leaves a lock without end; where the lock service forgets it.
//! **Source**: S0.10, S1.12, S2.5.

use super::kind::Kind;
use super::record::tell;
use super::{BusyPolicy, Entry, Guard, GuardContext, OnLost, Outcome, Permit, Settle, Visit};
use crate::dispatch::failed;
use crate::ports::{At, CallError, Fut, Ports, Token};
use crate::span::positive;
use crate::weakness::Weakness;
use crate::{Span, Switchable, marks, steps};
use evidence::{Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "redis_lock"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedisLockConfig {
    /// How the lock is taken. Default: in one command.
    pub acquire: Acquire,
    /// How long the lock lives without renewal. Default 20 s.
    #[serde(deserialize_with = "positive")]
    pub ttl: Span,
    /// How often the holder extends it to its full TTL. Default: a third of the TTL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Switchable>,
    /// What a renewal asks before it extends the lock. Default: whether it is still its own.
    #[serde(skip_serializing_if = "Renew::is_default")]
    pub renew: Renew,
    /// How the lock is given back. Default: by its owner only.
    pub release: Unlock,
    /// What happens to a message whose key is locked; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
    /// What happens to the work when the lock is found lost. Default: it goes on.
    pub on_lost: OnLost,
}

impl Default for RedisLockConfig {
    fn default() -> Self {
        RedisLockConfig {
            acquire: Acquire::SetNxPx,
            ttl: Span::secs(20),
            renew_every: None,
            renew: Renew::OwnerChecked,
            release: Unlock::OwnerChecked,
            busy: None,
            on_lost: OnLost::Continue,
        }
    }
}

/// How the lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acquire {
    /// SET key token NX PX ttl.
    #[default]
    SetNxPx,
    /// SETNX, then EXPIRE: a crash in between leaves a lock that never ends.
    TwoStep,
}

/// What a renewal asks before it extends the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Renew {
    /// Whether the lock is still this owner's, in one script with the extension.
    #[default]
    OwnerChecked,
    /// Nothing (PEXPIRE): a late renewal prolongs the lock of the next owner.
    Blind,
    /// Only whether it is set (SET XX PX): a late renewal takes the lock from the next owner.
    Overwrite,
}

impl Renew {
    fn is_default(&self) -> bool {
        *self == Renew::OwnerChecked
    }
}

/// How the lock is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unlock {
    /// Only if it still carries this owner's token, in one script.
    #[default]
    OwnerChecked,
    /// GET, and DEL if it was this owner's: the lock may change hands in between.
    GetThenDelete,
    /// Whoever holds it now: may take away the lock of the next owner.
    Blind,
    /// Not at all: it ends by itself.
    Off,
}

impl RedisLockConfig {
    /// How often the lock is renewed; `None`: never.
    pub fn renewal(&self) -> Option<Span> {
        match self.renew_every {
            Some(Switchable(every)) => every,
            None => Some(Span::millis((self.ttl.ms() / 3).max(1))),
        }
    }
}

impl Kind for RedisLockConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(RedisLock {
            ports: context.instance.ports.clone(),
            config: self.clone(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls: Vec<&'static Step> = match self.acquire {
            Acquire::SetNxPx => vec![&steps::LOCK_ACQUIRE],
            Acquire::TwoStep => vec![&steps::LOCK_ACQUIRE_SET, &steps::LOCK_ACQUIRE_EXPIRE],
        };
        if self.renewal().is_some() {
            calls.push(&steps::LOCK_RENEW);
        }
        if self.release != Unlock::Off {
            calls.push(&steps::LOCK_RELEASE);
        }
        calls
    }

    fn deadlines(&self) -> Vec<(&'static str, Span)> {
        vec![("guard.ttl", self.ttl)]
    }

    fn renewal(&self) -> Option<Span> {
        RedisLockConfig::renewal(self)
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }

    fn on_lost(&self) -> OnLost {
        self.on_lost
    }

    fn fill_in(&mut self) {
        self.renew_every = Some(Switchable(self.renewal()));
    }
}

struct RedisLock {
    ports: Ports,
    config: RedisLockConfig,
}

impl RedisLock {
    async fn acquire(&self, visit: &Visit<'_>) -> Result<bool, CallError> {
        let locks = &self.ports.locks;
        let (token, ttl) = (Token(visit.token), self.config.ttl);
        let lives = (!self.ports.weak(Weakness::LockWithoutEnd)).then_some(ttl);
        match self.config.acquire {
            Acquire::SetNxPx => {
                let at = At::new(&steps::LOCK_ACQUIRE, visit.ids);
                locks.set_if_absent(at, visit.key, token, lives).await
            }
            Acquire::TwoStep => {
                let at = At::new(&steps::LOCK_ACQUIRE_SET, visit.ids);
                if !locks.set_if_absent(at, visit.key, token, None).await? {
                    return Ok(false);
                }
                let at = At::new(&steps::LOCK_ACQUIRE_EXPIRE, visit.ids);
                locks.expire(at, visit.key, None, ttl).await?;
                Ok(true)
            }
        }
    }

    async fn extend(&self, at: At<'_>, visit: &Visit<'_>) -> Result<bool, CallError> {
        let (locks, ttl) = (&self.ports.locks, self.config.ttl);
        let (key, token) = (visit.key, Token(visit.token));
        match self.config.renew {
            Renew::OwnerChecked => locks.expire(at, key, Some(token), ttl).await,
            Renew::Blind => locks.expire(at, key, None, ttl).await,
            Renew::Overwrite => locks.set_if_present(at, key, token, ttl).await,
        }
    }

    /// Ends when the lock is somebody else's, or must be taken for it.
    async fn renew(&self, visit: Visit<'_>, every: Span) {
        let (runtime, step) = (&self.ports.runtime, &steps::LOCK_RENEW);
        let at = At::new(step, visit.ids);
        let mut ends = runtime.monotonic().plus(self.config.ttl);
        loop {
            runtime.sleep(every).await;
            let asked = runtime.monotonic();
            match self.extend(at, &visit).await {
                Ok(true) => {
                    self.ports.journal.mark(&marks::LOCK_RENEWED);
                    ends = asked.plus(self.config.ttl);
                }
                Ok(false) => {
                    self.ports.journal.mark(&marks::LOCK_LOST);
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

impl Guard for RedisLock {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            if self.acquire(&visit).await? {
                return Ok(Entry::Run(Permit::first(visit.token)));
            }
            tell(&self.ports, &steps::LOCK_ACQUIRE, visit.ids, What::Busy);
            self.ports.journal.mark(&marks::LOCK_BUSY);
            Ok(Entry::Busy { retry_in: None })
        })
    }

    fn hold<'a>(&'a self, visit: Visit<'a>, _: &'a Permit) -> Option<Fut<'a, ()>> {
        let every = self.config.renewal()?;
        Some(Box::pin(self.renew(visit, every)))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let (locks, token) = (&self.ports.locks, Token(visit.token));
            let step = &steps::LOCK_RELEASE;
            let at = At::new(step, visit.ids);
            let released = match self.config.release {
                Unlock::OwnerChecked => locks.delete(at, visit.key, Some(token)).await,
                Unlock::GetThenDelete => match locks.get(at, visit.key).await {
                    Ok(Some(owner)) if owner == token => locks.delete(at, visit.key, None).await,
                    other => other.map(|_| false),
                },
                Unlock::Blind => locks.delete(at, visit.key, None).await,
                Unlock::Off => return Ok(outcome.settle_without_record()),
            };
            // A release that fails leaves the lock to its TTL.
            match released {
                Ok(true) => {}
                Ok(false) => self.ports.journal.mark(&marks::LOCK_NOT_OURS),
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

    fn guard(bench: &Bench, config: RedisLockConfig) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::RedisLock(config))
    }

    const BUSY: Entry = Entry::Busy { retry_in: None };

    #[test]
    fn while_it_is_held_nobody_else_enters_and_after_the_release_everybody_may() {
        for acquire in [Acquire::SetNxPx, Acquire::TwoStep] {
            let bench = Bench::new();
            let guard = guard(
                &bench,
                RedisLockConfig {
                    acquire,
                    ..RedisLockConfig::default()
                },
            );
            let permit = bench.run(&*guard, 1);
            assert_eq!(bench.enter(&*guard, 2), BUSY);
            let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            assert_eq!(settle, Settle::Ack);
            bench.run(&*guard, 3);
        }
    }

    #[test]
    fn without_renewal_the_lock_ends_with_its_ttl() {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                renew_every: Some(Switchable(None)),
                ..RedisLockConfig::default()
            },
        );
        let permit = bench.run(&*guard, 1);
        assert!(bench.hold(&*guard, 1, &permit).is_none());
        bench.pass(Span::millis(19_999));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
        bench.pass(Span::millis(1));
        bench.run(&*guard, 2);
    }

    #[test]
    fn a_crash_between_the_two_steps_leaves_a_lock_without_end() {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                acquire: Acquire::TwoStep,
                ..RedisLockConfig::default()
            },
        );
        bench.locks.refuse_after(1);
        assert_eq!(bench.try_enter(&*guard, 1), Err(CallError::Refused));
        bench.pass(Span::secs(1_000_000));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
    }

    #[test]
    fn only_a_blind_release_frees_the_lock_of_the_next_owner() {
        for (release, next) in [
            (Unlock::OwnerChecked, true),
            (Unlock::GetThenDelete, true),
            (Unlock::Blind, false),
        ] {
            let bench = Bench::new();
            let guard = guard(
                &bench,
                RedisLockConfig {
                    release,
                    ..RedisLockConfig::default()
                },
            );
            let late = bench.run(&*guard, 1);
            bench.pass(Span::secs(20));
            bench.run(&*guard, 2);
            bench.finish(&*guard, 1, &late, Outcome::Succeeded);
            let held = bench.enter(&*guard, 3) == BUSY;
            assert_eq!(held, next, "{release:?}");
        }
    }

    #[test]
    fn a_late_renewal_that_does_not_check_prolongs_or_takes_the_lock_of_the_next_owner() {
        for (renew, lost, taken) in [
            (Renew::OwnerChecked, true, false),
            (Renew::Blind, false, false),
            (Renew::Overwrite, false, true),
        ] {
            let bench = Bench::new();
            let guard = guard(
                &bench,
                RedisLockConfig {
                    renew,
                    ..RedisLockConfig::default()
                },
            );
            let late = bench.run(&*guard, 1);
            let mut hold = bench.hold(&*guard, 1, &late).unwrap();
            assert!(!bench.advance(&mut hold, Span::ZERO));
            bench.pass(Span::secs(20));
            let next = bench.run(&*guard, 2);
            assert_eq!(bench.advance(&mut hold, Span::ZERO), lost, "{renew:?}");
            // The next owner's checked release finds its lock, unless it was taken.
            bench.finish(&*guard, 2, &next, Outcome::Succeeded);
            let held = bench.enter(&*guard, 3) == BUSY;
            assert_eq!(held, taken, "{renew:?}");
        }
    }

    #[test]
    fn renewal_keeps_the_lock_for_as_long_as_it_goes_on() {
        let bench = Bench::new();
        let guard = guard(&bench, RedisLockConfig::default());
        let permit = bench.run(&*guard, 1);
        let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
        for _ in 0..20 {
            assert!(!bench.advance(&mut hold, Span::millis(6_666)));
            assert_eq!(bench.enter(&*guard, 2), BUSY);
        }
    }

    #[test]
    fn a_lock_that_is_somebody_elses_is_lost() {
        let bench = Bench::new();
        let guard = guard(&bench, RedisLockConfig::default());
        let permit = bench.run(&*guard, 1);
        let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
        assert!(!bench.advance(&mut hold, Span::ZERO));
        bench.pass(Span::secs(20));
        bench.run(&*guard, 2);
        assert!(bench.advance(&mut hold, Span::ZERO));
        assert_eq!(bench.told(), [What::OwnershipLost]);
    }

    #[test]
    fn a_lock_that_cannot_be_renewed_for_its_ttl_counts_as_lost() {
        let bench = Bench::new();
        let guard = guard(&bench, RedisLockConfig::default());
        let permit = bench.run(&*guard, 1);
        let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
        bench.locks.refuse_after(0);
        assert!(!bench.advance(&mut hold, Span::millis(6_666)));
        bench.locks.refuse_after(0);
        assert!(!bench.advance(&mut hold, Span::millis(6_666)));
        bench.locks.refuse_after(0);
        assert!(!bench.advance(&mut hold, Span::millis(6_666)));
        bench.locks.refuse_after(0);
        assert!(bench.advance(&mut hold, Span::millis(6_666)));
        assert_eq!(bench.told().last(), Some(&What::OwnershipLost));
    }
}
