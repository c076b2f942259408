//! Drives one execution: the only file that names madsim.
//!
//! The pump goes through the world's own agenda and polls the instances' tasks. Where a test brought
//! parts of its own, it does so in one madsim task. As long as no future outside the simulator waits
//! for anything, madsim's clock is simply moved to the next action; as soon as one does (a handler
//! that uses madsim's or madsim-tokio's timers), the pump sleeps through madsim until the next
//! action, so that those timers fire in between.

use crate::agenda::{Action, Entry, Ms};
use crate::rest_point::Watch;
use crate::stage::Playing;
use crate::tasks::{ForeignWakes, Taken};
use crate::world::World;
use evidence::Ended;
use madsim::runtime::Runtime;
use madsim::time::{Instant, Sleep, TimeHandle};
use scheduler::ports::Fut;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

/// Runs the execution that is on stage to its end. `start` starts an instance. Without parts of
/// anybody else's nothing outside can be waited for, and madsim is not needed.
///
/// Gives how it ended, and whether that was because `watch` knows the state in which it rested.
pub(crate) fn drive(
    playing: &Playing,
    parts: bool,
    start: &dyn Fn(u8),
    watch: Option<Watch<'_>>,
) -> (Ended, bool) {
    let on_stage = playing.with(|world| (world.seed, world.tasks.foreign()));
    let (seed, foreign) = on_stage.unwrap_or_default();
    let mut pump = Pump {
        playing,
        start,
        watch,
        cut: false,
        foreign,
        time: None,
        sleep: None,
        resumed: VecDeque::new(),
        entries: 0,
        polls: 0,
        quiet: 0,
    };
    if !parts {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(ended) = pump.pump(&mut cx) {
                return (ended, pump.cut);
            }
        }
    }
    let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
    let ended = runtime.block_on(async {
        pump.time = playing.with(|world| Clock::at_epoch(world));
        pump.await
    });
    // Only now, so that the runtime ends in good order.
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

struct Pump<'a> {
    playing: &'a Playing,
    start: &'a dyn Fn(u8),
    /// Who wants to know of rest points.
    watch: Option<Watch<'a>>,
    /// Whether the state in which the world rests is known.
    cut: bool,
    foreign: Arc<ForeignWakes>,
    /// Where somebody else may wait for it.
    time: Option<Clock>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// What a paused instance could not do, now that it goes on.
    resumed: VecDeque<Entry>,
    /// Actions done, and wakes by foreign timers: what the budget counts.
    entries: u64,
    /// Polls of tasks.
    polls: u64,
    /// How many of them were before the last action or foreign timer.
    quiet: u64,
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

/// What has to be done while nobody is at work on the world: it may use the ports.
enum Foreign {
    Poll(Taken),
    Start(Vec<u8>),
    Bury(Vec<Fut<'static, ()>>),
    Nothing(Poll<Ended>),
}

impl Future for Pump<'_> {
    type Output = thread::Result<(Ended, bool)>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<thread::Result<(Ended, bool)>> {
        let this = self.get_mut();
        match catch_unwind(AssertUnwindSafe(|| this.pump(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(ended)) => Poll::Ready(Ok((ended, this.cut))),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

impl Pump<'_> {
    /// Does everything until there is nothing left, or madsim's clock has to move.
    fn pump(&mut self, cx: &mut Context<'_>) -> Poll<Ended> {
        let playing = self.playing;
        self.quiet = self.polls;
        if let Some(time) = &mut self.time {
            // Time may have passed: somebody's timer fired, or the sleep is over. What a foreign
            // timer wakes happens at the world's own, whole milliseconds.
            let at = time.world_time();
            playing.with(|world| world.now = world.now.max(at));
        }
        let mut polled = None;
        loop {
            let next = playing.with(|world| {
                if let Some((taken, ended)) = polled.take() {
                    self.put_back(world, taken, ended);
                }
                self.until_foreign(world, cx)
            });
            match next {
                Some(Foreign::Poll(mut taken)) => {
                    let ended = self.poll_task(&mut taken);
                    polled = Some((taken, ended));
                }
                Some(Foreign::Start(starting)) => {
                    starting
                        .into_iter()
                        .for_each(|instance| (self.start)(instance));
                }
                Some(Foreign::Bury(graveyard)) => bury(graveyard),
                Some(Foreign::Nothing(ended)) => return ended,
                // Nobody but us takes a world off the stage.
                None => return Poll::Ready(Ended::Livelock),
            }
        }
    }

    /// Does all that the world does by itself.
    fn until_foreign(&mut self, world: &mut World, cx: &mut Context<'_>) -> Foreign {
        loop {
            if let Some(foreign) = self.next_ready(world) {
                return foreign;
            }
            if !world.starting.is_empty() {
                return Foreign::Start(std::mem::take(&mut world.starting));
            }
            match self.next(world, cx) {
                Next::Act(entry) => {
                    self.quiet = self.polls;
                    if !world.stall(entry) {
                        world.act(entry);
                        if let Action::Resume(instance) = entry.action {
                            self.resumed.extend(world.resume(instance));
                        }
                    }
                }
                Next::Woken => {}
                Next::Sleeping => return Foreign::Nothing(Poll::Pending),
                Next::Ended(ended) => {
                    world.polls = self.polls;
                    return Foreign::Nothing(Poll::Ready(ended));
                }
            }
        }
    }

    /// The next action, if it is time for it.
    fn next(&mut self, world: &mut World, cx: &mut Context<'_>) -> Next {
        if self.polls - self.quiet > POLLS_MAX || self.entries > world.constants.budget {
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
        if at > world.now
            && let (Some(watch), Some(entry)) = (self.watch, world.agenda.peek())
            && world.rests(watch, entry)
        {
            self.cut = true;
            return Next::Ended(Ended::Settled);
        }
        if foreign && self.sleep_until(world, at, cx) {
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
    fn sleep_until(&mut self, world: &mut World, at: Ms, cx: &mut Context<'_>) -> bool {
        let Some(time) = &mut self.time else {
            // It is one of our own that waits for another.
            if !self.foreign.any() {
                world.now = world.now.max(at);
            }
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

    /// The next task that is ready, to be polled.
    fn next_ready(&mut self, world: &mut World) -> Option<Foreign> {
        loop {
            if !world.tasks.graveyard.is_empty() {
                return Some(Foreign::Bury(std::mem::take(&mut world.tasks.graveyard)));
            }
            if self.polls - self.quiet > POLLS_MAX {
                return None;
            }
            let key = world.tasks.next_ready()?;
            if world.stall_task(key) {
                continue;
            }
            if let Some(taken) = world.tasks.take(key) {
                if let Some(time) = &mut self.time {
                    time.move_to(world.now);
                }
                return Some(Foreign::Poll(taken));
            }
        }
    }

    /// After its poll.
    fn put_back(&mut self, world: &mut World, taken: Taken, ended: bool) {
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
const POLLS_MAX: u64 = 100_000;

/// Drops what was killed: foreign code may panic in its destructors.
pub(crate) fn bury<T>(dead: impl IntoIterator<Item = T>) {
    for one in dead {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(one)));
    }
}
