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
use super::{
    BusyPolicy, Entry, Guard, GuardContext, LockBy, OnLost, Outcome, Permit, Settle, Visit,
};
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
    /// What happens after a renewal that got no answer. Default: the next one is due all the same;
    /// false: nobody renews any more, and the holder is not told.
    #[serde(skip_serializing_if = "is_true")]
    pub renew_retry: bool,
    /// Whether whoever has the identity of the holder may enter beside it. Default: no.
    #[serde(skip_serializing_if = "is_false")]
    pub reentrant: bool,
    /// What is locked. Default: the run.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
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
            renew_retry: true,
            reentrant: false,
            lock_key: LockBy::Run,
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
    /// SET key token PX ttl: without NX whoever has the lock loses it.
    Set,
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

fn is_true(knob: &bool) -> bool {
    *knob
}

fn is_false(knob: &bool) -> bool {
    !*knob
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
        Box::new(RedisLock::new(self.clone(), context))
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls: Vec<&'static Step> = match self.acquire {
            Acquire::SetNxPx | Acquire::Set => vec![&steps::LOCK_ACQUIRE],
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

pub(super) struct RedisLock {
    ports: Ports,
    config: RedisLockConfig,
    identity: u64,
}

impl RedisLock {
    /// For one incarnation of one instance.
    pub(super) fn new(config: RedisLockConfig, context: &GuardContext) -> Self {
        RedisLock {
            ports: context.instance.ports.clone(),
            identity: context.instance.identity_number(),
            config,
        }
    }

    /// What the lock says of its owner: the visit, or, where it may be entered again, the process.
    fn token(&self, visit: &Visit<'_>) -> Token {
        match self.config.reentrant {
            true => Token(self.identity),
            false => Token(visit.token),
        }
    }

    async fn acquire(&self, visit: &Visit<'_>) -> Result<bool, CallError> {
        if self.take(visit).await? {
            return Ok(true);
        }
        if !self.config.reentrant {
            return Ok(false);
        }
        let at = At::new(&steps::LOCK_ACQUIRE, visit.ids);
        let key = self.config.lock_key.of(visit);
        let owner = self.ports.locks.get(at, &key).await?;
        Ok(owner == Some(self.token(visit)))
    }

    async fn take(&self, visit: &Visit<'_>) -> Result<bool, CallError> {
        let locks = &self.ports.locks;
        let key = &self.config.lock_key.of(visit);
        let (token, ttl) = (self.token(visit), self.config.ttl);
        let lives = (!self.ports.weak(Weakness::LockWithoutEnd)).then_some(ttl);
        match self.config.acquire {
            Acquire::SetNxPx => {
                let at = At::new(&steps::LOCK_ACQUIRE, visit.ids);
                locks.set_if_absent(at, key, token, lives).await
            }
            // SET is NX where the key is free and XX where it is not.
            Acquire::Set => {
                let at = At::new(&steps::LOCK_ACQUIRE, visit.ids);
                if !locks.set_if_absent(at, key, token, lives).await? {
                    locks.set_if_present(at, key, token, ttl).await?;
                }
                Ok(true)
            }
            Acquire::TwoStep => {
                let at = At::new(&steps::LOCK_ACQUIRE_SET, visit.ids);
                if !locks.set_if_absent(at, key, token, None).await? {
                    return Ok(false);
                }
                let at = At::new(&steps::LOCK_ACQUIRE_EXPIRE, visit.ids);
                locks.expire(at, key, None, ttl).await?;
                Ok(true)
            }
        }
    }

    async fn extend(&self, at: At<'_>, visit: &Visit<'_>) -> Result<bool, CallError> {
        let (locks, ttl) = (&self.ports.locks, self.config.ttl);
        let (key, token) = (&self.config.lock_key.of(visit), self.token(visit));
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
                    if !self.config.renew_retry {
                        return std::future::pending().await;
                    }
                    if runtime.monotonic() >= ends {
                        break;
                    }
                }
            }
        }
        tell(&self.ports, step, visit.ids, What::OwnershipLost);
    }
}

impl RedisLock {
    /// Gives the lock back, as far as the scenario lets it.
    pub(super) async fn release(&self, visit: &Visit<'_>) {
        let (locks, token) = (&self.ports.locks, self.token(visit));
        let key = &self.config.lock_key.of(visit);
        let step = &steps::LOCK_RELEASE;
        let at = At::new(step, visit.ids);
        let released = match self.config.release {
            Unlock::OwnerChecked => locks.delete(at, key, Some(token)).await,
            Unlock::GetThenDelete => match locks.get(at, key).await {
                Ok(Some(owner)) if owner == token => locks.delete(at, key, None).await,
                other => other.map(|_| false),
            },
            Unlock::Blind => locks.delete(at, key, None).await,
            Unlock::Off => return,
        };
        // A release that fails leaves the lock to its TTL.
        match released {
            Ok(true) => {}
            Ok(false) => self.ports.journal.mark(&marks::LOCK_NOT_OURS),
            Err(error) => tell(&self.ports, step, visit.ids, failed(error)),
        }
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
            self.release(&visit).await;
            Ok(outcome.settle_without_record())
        })
    }
}

#[cfg(test)]
mod tests;
