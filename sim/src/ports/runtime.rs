//! Runtime, clock and journal of an incarnation.

use super::Window;
use super::waiting::WaitingForSlot;
use crate::agenda::{Action, Ms};
use crate::faults;
use crate::keyed::{self, Use};
use crate::stage::Execution;
use crate::world::{World, key_of, run_of};
use evidence::{Ids, Step, Timestamp, What};
use scenarios::spec::Phase;
use scheduler::Span;
use scheduler::marks::Mark;
use scheduler::ports::{At, Clock, Fut, Interest, Journal, Monotonic, Runtime, Wake};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

impl Clock for Window {
    fn now(&self) -> Timestamp {
        let read = self.with(|world| {
            let clock = &world.processes[usize::from(self.instance)].clock;
            clock.read(world.now)
        });
        read.unwrap_or_default()
    }
}

impl Journal for Window {
    fn record(&self, at: At<'_>, what: What) {
        let (instance, incarnation) = (self.instance, self.incarnation);
        self.with(|world| {
            if world.is_current(instance, incarnation) {
                world.record(instance, incarnation, at.step, what, at.ids.clone());
            }
        });
    }

    fn mark(&self, mark: &'static Mark) {
        self.with(|world| world.marks.hit(mark));
    }
}

impl Runtime for Window {
    fn monotonic(&self) -> Monotonic {
        Monotonic(self.with(|world| world.now).unwrap_or_default())
    }

    fn sleep(&self, span: Span) -> Fut<'_, ()> {
        Box::pin(Sleeping {
            execution: self.execution,
            length: span.ms(),
            until: None,
            entry: None,
        })
    }

    fn pass<'a>(&'a self, at: At<'a>) -> Fut<'a, ()> {
        Box::pin(Passing {
            window: self,
            at,
            passed: false,
        })
    }

    fn wait_until<'a>(&'a self, at: At<'a>, until: Timestamp, cap: Option<Span>) -> Fut<'a, ()> {
        Box::pin(WaitingForSlot::new(self, at, until, cap))
    }

    fn spawn(&self, task: Fut<'static, ()>) {
        self.with(|world| {
            if world.is_current(self.instance, self.incarnation) {
                world.tasks.spawn(self.instance, task);
            } else {
                // Dropped when nobody is at work on the world.
                world.tasks.graveyard.push(task);
            }
        });
    }

    fn idle_until(&self, anchor: Monotonic, every: Span, interest: Interest) -> Fut<'_, Wake> {
        Box::pin(Idling {
            window: self,
            anchor: anchor.0,
            every: every.ms(),
            interest,
            place: None,
        })
    }

    fn stopping(&self) -> bool {
        self.with(|world| world.processes[usize::from(self.instance)].stopping)
            .unwrap_or(true)
    }

    fn stop_requested(&self) -> Fut<'_, ()> {
        Box::pin(StopRequested {
            window: self,
            waiting: false,
        })
    }

    fn steady(&self, at: At<'_>) -> u64 {
        let seed = self.with(|world| world.seed).unwrap_or_default();
        let key = key_of(self.instance, at.step, run_of(at.ids));
        keyed::number(seed, key, Use::Number)
    }

    fn random(&self, at: At<'_>) -> u64 {
        self.with(|world| world.random(self.instance, at.step, run_of(at.ids)))
            .unwrap_or_default()
    }
}

/// Sleeps on the clock that does not jump.
struct Sleeping {
    execution: Execution,
    length: Ms,
    until: Option<Ms>,
    /// Its entry in the agenda, as long as that is ahead.
    entry: Option<u32>,
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let execution = self.execution;
        execution
            .with(|world| self.poll_in(world, cx))
            .unwrap_or(Poll::Pending)
    }
}

impl Sleeping {
    fn poll_in(&mut self, world: &mut World, cx: &mut Context<'_>) -> Poll<()> {
        world.tasks.wait(cx.waker());
        match self.until {
            Some(until) if until <= world.now => {
                self.entry = None;
                Poll::Ready(())
            }
            Some(_) => Poll::Pending,
            None => {
                let until = world.now.saturating_add(self.length);
                self.until = Some(until);
                if let Some(task) = world.tasks.current {
                    let instance = world.tasks.instance(task).unwrap_or(0);
                    self.entry = Some(world.agenda.add(until, instance, Action::Wake(task)));
                }
                Poll::Pending
            }
        }
    }
}

/// A sleep that nobody waits for (the loser of a race) leaves no trace: the execution does not go
/// on for its sake.
impl Drop for Sleeping {
    fn drop(&mut self) {
        if let (Some(entry), Some(until)) = (self.entry, self.until) {
            self.execution.with(|world| {
                // Of a paused instance the entry may have left the agenda and wait with the
                // instance.
                if until > world.now {
                    world.agenda.cancel(entry);
                }
            });
        }
    }
}

/// Passes a step that is no call.
struct Passing<'a> {
    window: &'a Window,
    at: At<'a>,
    passed: bool,
}

impl Future for Passing<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let window = self.window;
        if std::mem::replace(&mut self.passed, true) {
            return Poll::Ready(());
        }
        if window.reach(self.at.step, self.at.ids, None, Phase::Before) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Window {
    /// Reaches a site of a step that is no call; false if the instance cannot go on now: it is
    /// dead, or paused (then its task is woken when the pause is over).
    fn reach(&self, step: &'static Step, ids: &Ids, n: Option<u16>, phase: Phase) -> bool {
        self.with(|world| self.reach_in(world, step, ids, n, phase))
            .unwrap_or(false)
    }

    pub(super) fn reach_in(
        &self,
        world: &mut World,
        step: &'static Step,
        ids: &Ids,
        n: Option<u16>,
        phase: Phase,
    ) -> bool {
        let run = run_of(ids);
        let n = n.unwrap_or_else(|| world.occur(self.instance, step, run));
        if let Some(fault) = world.reach(self.instance, step, run, n, phase) {
            faults::on_step(world, &fault, step, ids);
        }
        if !world.is_current(self.instance, self.incarnation) {
            return false;
        }
        if world.processes[usize::from(self.instance)]
            .paused_until
            .is_some()
        {
            if let Some(task) = world.tasks.current {
                // Stalled with everything else of the instance, and done when it goes on.
                let now = world.now;
                world.agenda.add(now, self.instance, Action::Wake(task));
            }
            return false;
        }
        true
    }
}

/// Idles until a poll would find something.
struct Idling<'a> {
    window: &'a Window,
    anchor: Ms,
    every: Ms,
    interest: Interest,
    place: Option<usize>,
}

impl Future for Idling<'_> {
    type Output = Wake;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Wake> {
        let window = self.window;
        window
            .with(|world| self.poll_in(world))
            .unwrap_or(Poll::Ready(Wake::Stop))
    }
}

impl Idling<'_> {
    fn poll_in(&mut self, world: &mut World) -> Poll<Wake> {
        let window = self.window;
        if world.processes[usize::from(window.instance)].stopping {
            return Poll::Ready(Wake::Stop);
        }
        match self.place {
            None => {
                let (instance, incarnation) = (window.instance, window.incarnation);
                let place = world.idle(
                    instance,
                    incarnation,
                    self.anchor,
                    self.every,
                    self.interest,
                );
                self.place = Some(place);
                Poll::Pending
            }
            Some(place) if world.pollers[place].woken => {
                world.pollers[place].task = None;
                Poll::Ready(Wake::Poll)
            }
            Some(_) => Poll::Pending,
        }
    }
}

/// Ends when the instance has been asked to stop.
struct StopRequested<'a> {
    window: &'a Window,
    waiting: bool,
}

impl Future for StopRequested<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let window = self.window;
        window
            .with(|world| self.poll_in(world))
            .unwrap_or(Poll::Ready(()))
    }
}

impl StopRequested<'_> {
    fn poll_in(&mut self, world: &mut World) -> Poll<()> {
        let task = world.tasks.current;
        let process = &mut world.processes[usize::from(self.window.instance)];
        if process.stopping {
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut self.waiting, true)
            && let Some(task) = task
            && !process.stop_waiters.contains(&task)
        {
            process.stop_waiters.push(task);
        }
        Poll::Pending
    }
}
