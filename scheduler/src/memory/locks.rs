//! A lock service in memory.

use super::{ManualTime, lock};
use crate::Span;
use crate::ports::{At, CallError, Fut, LockKey, LockService, Monotonic, Runtime, Token};
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex};

/// What time to live is counted by.
type Now = Box<dyn Fn() -> Monotonic + Send + Sync>;

/// Keys with an owner and a time to live.
pub struct MemoryLocks {
    now: Now,
    held: Mutex<BTreeMap<LockKey, Held>>,
}

struct Held {
    owner: Token,
    /// `None`: never.
    ends: Option<Monotonic>,
}

impl MemoryLocks {
    /// Without any lock; time to live counts by this clock.
    pub fn new(time: Arc<ManualTime>) -> Self {
        Self::counting_by(Box::new(move || time.monotonic()))
    }

    /// Without any lock; time to live counts by the runtime's monotonic clock.
    pub fn on(runtime: Arc<dyn Runtime>) -> Self {
        Self::counting_by(Box::new(move || runtime.monotonic()))
    }

    fn counting_by(now: Now) -> Self {
        MemoryLocks {
            now,
            held: Mutex::default(),
        }
    }

    /// Does something with the lock of this key, if it is held, and by `owner` if that is given.
    fn with_held(
        &self,
        key: &LockKey,
        owner: Option<Token>,
        change: impl FnOnce(&mut BTreeMap<LockKey, Held>, Monotonic),
    ) -> bool {
        let now = (self.now)();
        let mut held = lock(&self.held);
        let mine = held.get(key).is_some_and(|lock| {
            lock.is_alive(now) && owner.is_none_or(|owner| owner == lock.owner)
        });
        if mine {
            change(&mut held, now);
        }
        mine
    }
}

impl Held {
    fn is_alive(&self, now: Monotonic) -> bool {
        self.ends.is_none_or(|ends| now < ends)
    }
}

impl LockService for MemoryLocks {
    fn set_if_absent<'a>(
        &'a self,
        _: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Option<Span>,
    ) -> Fut<'a, Result<bool, CallError>> {
        let now = (self.now)();
        let mut held = lock(&self.held);
        let free = !held.get(key).is_some_and(|lock| lock.is_alive(now));
        if free {
            let ends = ttl.map(|ttl| now.plus(ttl));
            held.insert(key.clone(), Held { owner: token, ends });
        }
        Box::pin(ready(Ok(free)))
    }

    fn set_if_present<'a>(
        &'a self,
        _: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        let done = self.with_held(key, None, |held, now| {
            let ends = Some(now.plus(ttl));
            held.insert(key.clone(), Held { owner: token, ends });
        });
        Box::pin(ready(Ok(done)))
    }

    fn get<'a>(&'a self, _: At<'a>, key: &'a LockKey) -> Fut<'a, Result<Option<Token>, CallError>> {
        let now = (self.now)();
        let held = lock(&self.held);
        let alive = held.get(key).filter(|lock| lock.is_alive(now));
        Box::pin(ready(Ok(alive.map(|lock| lock.owner))))
    }

    fn expire<'a>(
        &'a self,
        _: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        let done = self.with_held(key, owner, |held, now| {
            if let Some(lock) = held.get_mut(key) {
                lock.ends = Some(now.plus(ttl));
            }
        });
        Box::pin(ready(Ok(done)))
    }

    fn delete<'a>(
        &'a self,
        _: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
    ) -> Fut<'a, Result<bool, CallError>> {
        let done = self.with_held(key, owner, |held, _| {
            held.remove(key);
        });
        Box::pin(ready(Ok(done)))
    }
}
