//! Drives one execution: the only file that names madsim.
//!
//! One madsim task pumps the world's own agenda and polls the instances' tasks. As long as no
//! future outside the simulator waits for anything, madsim's clock is simply moved to the next
//! action; as soon as one does (a handler that uses madsim's or madsim-tokio's timers), the pump
//! sleeps through madsim until the next action, so that those timers fire in between.

use crate::agenda::{Action, Entry, Ms};
use crate::tasks::{ForeignWakes, Taken};
use crate::world::World;
use evidence::Ended;
use madsim::runtime::Runtime;
use madsim::time::{Instant, Sleep, TimeHandle};
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;
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
    let (seed, foreign) = {
        let world = shared.lock();
        (world.seed, world.tasks.foreign())
    };
    let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
    let ended = runtime.block_on(Pump {
        shared,
        start,
        foreign,
        time: None,
        sleep: None,
        resumed: VecDeque::new(),
        entries: 0,
        polls: 0,
    });
    // Only now, so that the runtime ends in good order.
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

struct Pump<'a> {
    shared: &'a Shared,
    start: &'a dyn Fn(u8),
    foreign: Arc<ForeignWakes>,
    time: Option<Clock>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// What a paused instance could not do, now that it goes on.
    resumed: VecDeque<Entry>,
    /// Actions done, and wakes by foreign timers: what the budget counts.
    entries: u64,
    /// Polls since the last action or foreign timer.
    polls: u32,
}

/// Madsim's clock, and where on it the world's epoch is.
struct Clock {
    handle: TimeHandle,
    epoch: Instant,
    /// The world's time to which madsim's clock was moved last.
    moved_to: Ms,
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
        Clock {
            handle,
            epoch,
            moved_to: 0,
        }
    }

    fn instant(&self, at: Ms) -> Instant {
        self.epoch + Duration::from_millis(at)
    }

    /// Moves madsim's clock to the world's.
    fn move_to(&mut self, at: Ms) {
        if at > self.moved_to {
            let ahead = Duration::from_millis(at - self.moved_to);
            self.handle.advance(ahead);
            self.moved_to = at;
        }
    }

    /// What the world's clock should read by madsim's.
    fn world_time(&mut self) -> Ms {
        let passed = self
            .handle
            .now_instant()
            .saturating_duration_since(self.epoch);
        self.moved_to = u64::try_from(passed.as_millis()).unwrap_or(self.moved_to);
        self.moved_to
    }
}

/// What the pump does next.
enum Next {
    Act(Entry),
    Woken,
    Sleeping,
    Ended(Ended),
}

impl Future for Pump<'_> {
    type Output = thread::Result<Ended>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<thread::Result<Ended>> {
        let this = self.get_mut();
        match catch_unwind(AssertUnwindSafe(|| this.pump(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(ended)) => Poll::Ready(Ok(ended)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

impl<'a> Pump<'a> {
    /// Does everything until there is nothing left, or madsim's clock has to move.
    fn pump(&mut self, cx: &mut Context<'_>) -> Poll<Ended> {
        let mut world = self.shared.lock();
        let time = self.time.get_or_insert_with(|| Clock::at_epoch(&world));
        // Time may have passed: somebody's timer fired, or the sleep is over. What a foreign timer
        // wakes happens at the world's own, whole milliseconds.
        world.now = world.now.max(time.world_time());
        self.polls = 0;
        loop {
            world = self.run_ready(world);
            if !world.starting.is_empty() {
                let starting = std::mem::take(&mut world.starting);
                drop(world);
                for instance in starting {
                    (self.start)(instance);
                }
                world = self.shared.lock();
                continue;
            }
            match self.next(&mut world, cx) {
                Next::Act(entry) => {
                    self.polls = 0;
                    if !world.stall(entry) {
                        world.act(entry);
                        if let Action::Resume(instance) = entry.action {
                            self.resumed.extend(world.resume(instance));
                        }
                    }
                }
                Next::Woken => {}
                Next::Sleeping => return Poll::Pending,
                Next::Ended(ended) => return Poll::Ready(ended),
            }
        }
    }

    /// The next action, if it is time for it.
    fn next(&mut self, world: &mut World, cx: &mut Context<'_>) -> Next {
        if self.polls > POLLS_MAX || self.entries > world.constants.budget {
            return Next::Ended(Ended::Livelock);
        }
        if let Some(entry) = self.resumed.pop_front() {
            return Next::Act(entry);
        }
        let foreign = world.tasks.foreign_waiters();
        let next = world.agenda.next_at();
        let horizon = world.horizon();
        let at = next.unwrap_or(horizon);
        if world.poll_before(at.min(horizon)) {
            return Next::Woken;
        }
        if next.is_none() && !foreign {
            return Next::Ended(Ended::Settled);
        }
        if at > horizon {
            return Next::Ended(Ended::Horizon);
        }
        if foreign && self.sleep_until(at, cx) {
            return Next::Sleeping;
        }
        if world.tasks.wake_foreign() {
            self.entries += 1;
            return Next::Woken;
        }
        self.entries += 1;
        let Some(entry) = world.agenda.pop() else {
            return Next::Ended(Ended::Horizon);
        };
        world.now = world.now.max(entry.at);
        Next::Act(entry)
    }

    /// Sleeps through madsim until `at`, so that foreign timers fire in between; false if it is
    /// time already, or a foreign timer has fired.
    fn sleep_until(&mut self, at: Ms, cx: &mut Context<'_>) -> bool {
        let Some(time) = &mut self.time else {
            return false;
        };
        let until = time.instant(at);
        if time.handle.now_instant() >= until {
            return false;
        }
        self.foreign.engine_sleeps(cx.waker());
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(time.handle.sleep_until(until)));
        sleep.as_mut().reset(until);
        sleep.as_mut().poll(cx).is_pending() && !self.foreign.any()
    }

    /// Polls every task that is ready, until none is.
    fn run_ready(&mut self, mut world: MutexGuard<'a, World>) -> MutexGuard<'a, World> {
        loop {
            if !world.tasks.graveyard.is_empty() {
                let graveyard = std::mem::take(&mut world.tasks.graveyard);
                drop(world);
                bury(graveyard);
                world = self.shared.lock();
            }
            if self.polls > POLLS_MAX {
                return world;
            }
            let Some(key) = world.tasks.next_ready() else {
                return world;
            };
            if world.stall_task(key) {
                continue;
            }
            let Some(mut taken) = world.tasks.take(key) else {
                continue;
            };
            let now = world.now;
            drop(world);
            if let Some(time) = &mut self.time {
                time.move_to(now);
            }
            let ended = self.poll_task(&mut taken);
            world = self.shared.lock();
            let instance = world.tasks.instance(taken.key);
            let leftover = world.tasks.put_back(taken, ended);
            if ended && let Some(instance) = instance {
                world.stop_if_idle(instance);
            }
            world.tasks.graveyard.extend(leftover);
            if world.tasks.wake_foreign() {
                self.entries += 1;
            }
        }
    }

    /// Polls a task; true if it has ended.
    fn poll_task(&mut self, taken: &mut Taken) -> bool {
        let mut cx = Context::from_waker(&taken.waker);
        for turn in 1..=YIELDS_MAX {
            self.polls += 1;
            let future = &mut taken.future;
            // A panic ends the execution, and whoever asked for it is told: it is a guard's or our
            // own. Handlers' panics end their attempts and never come this far.
            if future.as_mut().poll(&mut cx).is_ready() {
                return true;
            }
            // A yield is polled again at once: nothing else may come in between. The last one is
            // left to be taken as any other wake, after others had their turn.
            if turn == YIELDS_MAX || !self.foreign.take_yield(taken.key) {
                return false;
            }
        }
        false
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
