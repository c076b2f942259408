//! Drives one execution: the only file that names madsim.
//!
//! One madsim task pumps the world's own agenda and polls the instances' tasks. As long as no
//! future outside the simulator waits for anything, madsim's clock is simply moved to the next
//! action; as soon as one does (a handler that uses madsim's or madsim-tokio's timers), the pump
//! sleeps through madsim until the next action, so that those timers fire in between.

use crate::agenda::{Action, Entry, Ms};
use crate::world::World;
use evidence::Ended;
use madsim::runtime::Runtime;
use madsim::time::{Instant, Sleep, TimeHandle};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

/// The world, shared by the pump and the instances' ports. Never locked across a poll or a drop of
/// foreign code.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn new(world: World) -> Self {
        Shared(Arc::new(Mutex::new(world)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the execution to its end. `start` starts an instance (the world is not locked then).
pub(crate) fn drive(shared: &Shared, start: &dyn Fn(u8)) -> Ended {
    let seed = shared.lock().seed;
    let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
    runtime.block_on(Pump {
        shared,
        start,
        time: None,
        sleep: None,
        entries: 0,
        polls: 0,
    })
}

struct Pump<'a> {
    shared: &'a Shared,
    start: &'a dyn Fn(u8),
    time: Option<Clock>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// Actions done, and wakes by foreign timers: what the budget counts.
    entries: u64,
    /// Polls since the last action or foreign timer.
    polls: u32,
}

/// Madsim's clock, and where on it the world's epoch is.
struct Clock {
    handle: TimeHandle,
    epoch: Instant,
}

impl Clock {
    /// Moves madsim's clock forward to the scenario's epoch.
    fn at_epoch(world: &World) -> Self {
        let handle = TimeHandle::current();
        let epoch = u64::try_from(world.constants.epoch.0).unwrap_or(0);
        let until = SystemTime::UNIX_EPOCH + Duration::from_millis(epoch);
        if let Ok(ahead) = until.duration_since(handle.now_time()) {
            handle.advance(ahead);
        }
        let epoch = handle.now_instant();
        Clock { handle, epoch }
    }

    fn instant(&self, at: Ms) -> Instant {
        self.epoch + Duration::from_millis(at)
    }

    fn advance_to(&self, at: Ms) {
        let ahead = self
            .instant(at)
            .saturating_duration_since(self.handle.now_instant());
        if !ahead.is_zero() {
            self.handle.advance(ahead);
        }
    }
}

impl Future for Pump<'_> {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let this = self.get_mut();
        if this.time.is_none() {
            this.time = Some(Clock::at_epoch(&this.shared.lock()));
        }
        // Time may have passed: somebody's timer fired, or the sleep is over.
        this.polls = 0;
        loop {
            this.run_ready();
            match this.next(cx) {
                Next::Act(entry) => this.act(entry),
                Next::Woken => {}
                Next::Sleeping => return Poll::Pending,
                Next::Ended(ended) => return Poll::Ready(ended),
            }
        }
    }
}

/// What the pump does next.
enum Next {
    Act(Entry),
    Woken,
    Sleeping,
    Ended(Ended),
}

impl Pump<'_> {
    /// The next action, if it is time for it.
    fn next(&mut self, cx: &mut Context<'_>) -> Next {
        let mut world = self.shared.lock();
        if self.polls > POLLS_MAX || self.entries > world.constants.budget {
            return Next::Ended(Ended::Livelock);
        }
        let foreign = world.tasks.foreign_waiters();
        let next = world.agenda.next_at();
        if next.is_none() && !foreign {
            return Next::Ended(Ended::Settled);
        }
        let horizon = world.horizon();
        let at = next.unwrap_or(horizon);
        if at > horizon {
            return Next::Ended(Ended::Horizon);
        }
        if foreign && self.sleep_until(&mut world, at, cx) {
            return Next::Sleeping;
        }
        if world.wake_foreign() {
            return Next::Woken;
        }
        self.entries += 1;
        if self.entries > world.constants.budget {
            return Next::Ended(Ended::Livelock);
        }
        let Some(entry) = world.agenda.pop() else {
            return Next::Ended(Ended::Horizon);
        };
        if entry.at > world.now {
            world.now = entry.at;
            if let Some(time) = &self.time {
                time.advance_to(entry.at);
            }
        }
        Next::Act(entry)
    }

    /// Sleeps through madsim until `at`, so that foreign timers fire in between; false if it is
    /// time already, or there is nothing to sleep for.
    fn sleep_until(&mut self, world: &mut World, at: Ms, cx: &mut Context<'_>) -> bool {
        let Some(time) = &self.time else { return false };
        let until = time.instant(at);
        if time.handle.now_instant() >= until {
            return false;
        }
        world.tasks.engine_sleeps(cx.waker());
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(time.handle.sleep_until(until)));
        sleep.as_mut().reset(until);
        let sleeping = sleep.as_mut().poll(cx).is_pending();
        let passed = time
            .handle
            .now_instant()
            .saturating_duration_since(time.epoch)
            .as_millis();
        // What a foreign timer wakes happens at the world's own, whole milliseconds.
        world.now = world.now.max(u64::try_from(passed).unwrap_or(world.now));
        sleeping && !world.tasks.foreign_woken()
    }

    /// Polls every task that is ready, until none is.
    fn run_ready(&mut self) {
        loop {
            if self.polls > POLLS_MAX {
                return;
            }
            let taken = {
                let mut world = self.shared.lock();
                if world.wake_foreign() {
                    self.entries += 1;
                }
                let Some(key) = world.tasks.next_ready() else {
                    break;
                };
                if world.stall_task(key) {
                    continue;
                }
                world.tasks.take(key)
            };
            let Some(mut taken) = taken else { continue };
            let mut polls = 0;
            let ended = loop {
                let mut cx = Context::from_waker(&taken.waker);
                let polled = catch_unwind(AssertUnwindSafe(|| taken.future.as_mut().poll(&mut cx)));
                // A panic of a task ends the task; handlers' panics never come this far.
                if !matches!(polled, Ok(Poll::Pending)) {
                    break true;
                }
                polls += 1;
                // A yield is polled again at once: nothing else may come in between.
                if polls > YIELDS_MAX || !self.shared.lock().tasks.take_yield(taken.key) {
                    break false;
                }
            };
            let (leftover, graveyard) = {
                let mut world = self.shared.lock();
                let instance = world.tasks.instance(taken.key);
                let leftover = world.tasks.put_back(taken, ended);
                if ended && let Some(instance) = instance {
                    world.stop_if_idle(instance);
                }
                (leftover, std::mem::take(&mut world.tasks.graveyard))
            };
            self.polls += 1 + polls;
            bury(leftover);
            bury(graveyard);
        }
        let starting = std::mem::take(&mut self.shared.lock().starting);
        if !starting.is_empty() {
            for instance in starting {
                (self.start)(instance);
            }
            self.run_ready();
        }
    }

    /// Does one action.
    fn act(&mut self, entry: Entry) {
        self.polls = 0;
        let resumed = {
            let mut world = self.shared.lock();
            if world.stall(entry) {
                return;
            }
            world.act(entry);
            match entry.action {
                Action::Resume(instance) => world.resume(instance),
                _ => Vec::new(),
            }
        };
        let graveyard = std::mem::take(&mut self.shared.lock().tasks.graveyard);
        bury(graveyard);
        for stalled in resumed {
            self.run_ready();
            self.act(stalled);
        }
    }
}

/// How often a task may yield in a row before others get their turn.
const YIELDS_MAX: u32 = 10_000;

/// How many polls may pass without time passing or anything happening: what takes more is a
/// livelock (a handler that yields until something changes that nobody changes). A busy instant of
/// a large scenario takes some hundred.
const POLLS_MAX: u32 = 100_000;

/// Drops what was killed: foreign code may panic in its destructors.
pub(crate) fn bury<T>(dead: impl IntoIterator<Item = T>) {
    for one in dead {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(one)));
    }
}
