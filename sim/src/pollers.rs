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
    /// Up to when all its poll instants are over, where none is skipped.
    looked: Ms,
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
            looked: self.now,
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
        self.keep_sessions();
        let poller = &self.pollers[place];
        if poller.task.is_none() || poller.woken {
            return;
        }
        let Some(due) = self.useful_from(poller) else {
            return;
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
        if let Interest::Standing { session } = poller.interest {
            return self.standing_due(session);
        }
        let clock = &self.processes[usize::from(poller.instance)].clock;
        let epoch = self.constants.epoch;
        let since_epoch = |at: Ms| epoch.plus_ms(i64::try_from(at).unwrap_or(i64::MAX / 4));
        let when = |reading| since_epoch(clock.when(reading));
        let due = self.database.next_due(poller.interest, when)?;
        Some(u64::try_from(due.0 - epoch.0).unwrap_or(0))
    }

    /// A poll instant has come: wakes the poller if it would find something.
    pub(crate) fn poll(&mut self, place: usize, at: Ms) {
        if !self.polls_at(place, at) {
            return;
        }
        self.pollers[place].scheduled = None;
        self.keep_sessions();
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

    /// Whether the agenda's entry for a poll at this moment still counts.
    pub(crate) fn polls_at(&self, place: usize, at: Ms) -> bool {
        let poller = &self.pollers[place];
        poller.scheduled == Some(at) && self.is_current(poller.instance, poller.incarnation)
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
        for place in 0..self.pollers.len() {
            if touched(&self.pollers[place].interest) {
                self.arrange_poll(place);
            }
        }
    }

    /// The instance's clock has jumped: what its pollers wait for may be due.
    pub(crate) fn rearrange_polls_of(&mut self, instance: u8) {
        for place in 0..self.pollers.len() {
            if self.pollers[place].instance == instance {
                self.arrange_poll(place);
            }
        }
    }

    /// Where no poll is skipped: makes all those that come before `before`, until then nothing
    /// changes. True if one of them finds something, which skipping it would have missed.
    pub(crate) fn poll_before(&mut self, before: Ms) -> bool {
        if self.constants.skip_idle_polls {
            return false;
        }
        self.keep_sessions();
        for place in 0..self.pollers.len() {
            let poller = &self.pollers[place];
            let process = &self.processes[usize::from(poller.instance)];
            let idle = poller.task.is_some() && !poller.woken;
            if !idle || process.paused_until.is_some() {
                continue;
            }
            // A poll that came due while the instance stood still is made as soon as it goes on.
            let overdue = poller.instant(poller.looked, 0) <= self.now;
            let finds_from = self.useful_from(poller);
            let finds = finds_from.map(|from| match overdue {
                true if from <= self.now => self.now,
                _ => poller.instant(poller.looked.max(self.now), from),
            });
            if let Some(at) = finds
                && at < before
                && poller.scheduled != Some(at)
            {
                self.now = at;
                self.wake_poller(place);
                return true;
            }
            self.pollers[place].looked = before;
        }
        false
    }
}
