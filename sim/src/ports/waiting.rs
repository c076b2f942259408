//! A scheduler waits for a slot.

use super::Window;
use crate::agenda::{Action, Ms};
use crate::faults;
use crate::world::{Armed, World, run_of};
use evidence::{Ids, Step, Timestamp};
use scenarios::spec::{Phase, RunRef};
use scheduler::Span;
use scheduler::ports::At;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

enum Stage {
    New,
    /// The site `before` is passed; the length of the sleep is not computed yet.
    Awake(u16),
    Asleep {
        n: u16,
        until: Ms,
    },
    Woken,
}

/// Waits for it: before, asleep, awake.
pub(super) struct WaitingForSlot<'a> {
    window: &'a Window,
    at: At<'a>,
    until: Timestamp,
    cap: Option<Span>,
    stage: Stage,
}

impl<'a> WaitingForSlot<'a> {
    pub(super) const fn new(
        window: &'a Window,
        at: At<'a>,
        until: Timestamp,
        cap: Option<Span>,
    ) -> Self {
        WaitingForSlot {
            window,
            at,
            until,
            cap,
            stage: Stage::New,
        }
    }
}

impl WaitingForSlot<'_> {
    fn arm(&self, world: &mut World) -> u16 {
        let run = run_of(self.at.ids);
        if let RunRef::Slot(slot) = run {
            let instance = self.window.instance;
            let task = world.tasks.current;
            world.armed.push(Armed {
                instance,
                slot,
                task,
            });
            if let Some(run) = &self.at.ids.run {
                world.discover(slot, self.until, run);
            }
        }
        world.occur(self.window.instance, self.at.step, run)
    }

    fn disarm(&self, world: &mut World) {
        let slot = self.at.ids.slot.truth();
        let instance = self.window.instance;
        if let Some(place) = world
            .armed
            .iter()
            .position(|armed| armed.instance == instance && Some(armed.slot) == slot)
        {
            world.armed.swap_remove(place);
        }
    }

    /// Computes how long to sleep, and falls asleep.
    fn fall_asleep(&self, world: &mut World) -> Ms {
        let instance = self.window.instance;
        let length = world.processes[usize::from(instance)]
            .clock
            .until(world.now, self.until);
        let length = self.cap.map_or(length, |cap| length.min(cap.ms()));
        let until = world.now + length;
        if let Some(task) = world.tasks.current {
            world.agenda.add(until, instance, Action::Wake(task));
        }
        until
    }

    fn poll_in(&mut self, world: &mut World) -> Poll<()> {
        let (window, step, ids) = (self.window, self.at.step, self.at.ids);
        loop {
            match self.stage {
                Stage::New => {
                    let n = self.arm(world);
                    self.stage = Stage::Awake(n);
                    if !window.reach_in(world, step, ids, Some(n), Phase::Before) {
                        return Poll::Pending;
                    }
                }
                Stage::Awake(n) => {
                    let until = self.fall_asleep(world);
                    self.stage = Stage::Asleep { n, until };
                    // A pause that begins in the middle of a sleep holds up the waking.
                    window.reach_asleep(world, step, ids, n);
                    return Poll::Pending;
                }
                Stage::Asleep { n, until } => {
                    if world.now < until {
                        return Poll::Pending;
                    }
                    self.stage = Stage::Woken;
                    if !window.reach_in(world, step, ids, Some(n), Phase::Done) {
                        return Poll::Pending;
                    }
                }
                Stage::Woken => {
                    self.disarm(world);
                    return Poll::Ready(());
                }
            }
        }
    }
}

impl Future for WaitingForSlot<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let window = self.window;
        window
            .with(|world| self.poll_in(world))
            .unwrap_or(Poll::Pending)
    }
}

impl Drop for WaitingForSlot<'_> {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::New) {
            self.window.with(|world| self.disarm(world));
        }
    }
}

impl Window {
    /// Reaches the site in the middle of a sleep.
    fn reach_asleep(&self, world: &mut World, step: &'static Step, ids: &Ids, n: u16) {
        if let Some(fault) = world.reach(self.instance, step, run_of(ids), n, Phase::Request) {
            faults::on_step(world, &fault, step, ids);
        }
    }
}
