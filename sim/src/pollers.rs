//! Pollers: woken only at poll instants at which they would find something.

use crate::agenda::{Action, Ms};
use crate::tasks::TaskKey;
use crate::world::World;
use scheduler::ports::Interest;

/// A loop that polls the database.
pub(crate) struct Poller {
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
    /// The task that is idle; `None` while it polls, and after its end.
    pub(crate) task: Option<TaskKey>,
    pub(crate) anchor: Ms,
    pub(crate) every: Ms,
    pub(crate) interest: Interest,
    /// The poll instant for which the agenda has an entry.
    pub(crate) scheduled: Option<Ms>,
    /// Whether it was woken.
    pub(crate) woken: bool,
}

impl Poller {
    /// The first poll instant after `after`, at or after `from`.
    fn instant(&self, after: Ms, from: Ms) -> Ms {
        let from = from.max(after + 1);
        let every = self.every.max(1);
        let steps = from.saturating_sub(self.anchor).div_ceil(every);
        self.anchor + steps * every
    }
}

impl World {
    /// A task idles until a poll would find something; gives the poller's place.
    pub(crate) fn idle(
        &mut self,
        instance: u8,
        incarnation: u16,
        anchor: Ms,
        every: Ms,
        interest: Interest,
    ) -> usize {
        let task = self.tasks.current;
        let place = self.pollers.iter().position(|poller| {
            poller.instance == instance
                && poller.incarnation == incarnation
                && poller.task.is_none()
                && poller.anchor == anchor
                && poller.interest == interest
        });
        let poller = Poller {
            instance,
            incarnation,
            task,
            anchor,
            every,
            interest,
            scheduled: None,
            woken: false,
        };
        let place = match place {
            Some(place) => {
                self.pollers[place] = poller;
                place
            }
            None => {
                self.pollers.push(poller);
                self.pollers.len() - 1
            }
        };
        self.arrange_poll(place);
        place
    }

    /// Puts the poller's next useful poll instant on the agenda, if there is one.
    pub(crate) fn arrange_poll(&mut self, place: usize) {
        let poller = &self.pollers[place];
        if poller.task.is_none() || poller.woken {
            return;
        }
        let due = if self.constants.skip_idle_polls {
            let Some(due) = self.useful_from(poller) else {
                return;
            };
            due
        } else {
            self.now
        };
        let poller = &self.pollers[place];
        let at = poller.instant(self.now, due);
        if poller
            .scheduled
            .is_some_and(|scheduled| scheduled <= at && scheduled > self.now)
        {
            return;
        }
        let instance = poller.instance;
        self.pollers[place].scheduled = Some(at);
        self.agenda.add(at, instance, Action::Poll(place));
    }

    /// From when on a poll would find something, as things are.
    fn useful_from(&self, poller: &Poller) -> Option<Ms> {
        let clock = &self.processes[usize::from(poller.instance)].clock;
        let ahead = || clock.read(self.now).0 - self.timestamp().0;
        let due = self.database.next_due(poller.interest, ahead)?;
        Some(u64::try_from(due.0 - self.constants.epoch.0).unwrap_or(0))
    }

    /// A poll instant has come: wakes the poller if it would find something.
    pub(crate) fn poll(&mut self, place: usize, at: Ms) {
        let poller = &self.pollers[place];
        if poller.scheduled != Some(at) || !self.is_current(poller.instance, poller.incarnation) {
            return;
        }
        self.pollers[place].scheduled = None;
        let poller = &self.pollers[place];
        if self
            .useful_from(poller)
            .is_some_and(|from| from <= self.now)
        {
            self.wake_poller(place);
        } else {
            self.arrange_poll(place);
        }
    }

    /// Wakes an idle poller.
    pub(crate) fn wake_poller(&mut self, place: usize) {
        if let Some(task) = self.pollers[place].task {
            self.pollers[place].woken = true;
            self.tasks.wake(task);
        }
    }

    /// What pollers read has changed.
    pub(crate) fn rearrange_polls(&mut self, touched: impl Fn(&Interest) -> bool) {
        if !self.constants.skip_idle_polls {
            return;
        }
        for place in 0..self.pollers.len() {
            if touched(&self.pollers[place].interest) {
                self.arrange_poll(place);
            }
        }
    }
}
