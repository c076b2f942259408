//! Rest points: moments at which nothing is on its way, so that what comes next depends on nothing
//! but what can be read off the world.
//!
//! At a rest point every task waits for a slot, for a message or for its next useful poll; no
//! message is in flight or unsettled, no transaction open, no instance dead or paused, and every
//! fault of the plan has struck and is over. [`State`] is then all that the future depends on: two
//! executions of one scenario and seed that rest in equal states have the same future, whatever
//! faults are still to come. Exploration goes on from one of them only.

use crate::agenda::{Action, Entry, Ms};
use crate::servers::broker;
use crate::setup::Setup;
use crate::state::Reading;
use crate::tasks::TaskKey;
use crate::world::World;
use evidence::Judging;
use scenarios::file::TopologyKind;
use scheduler::dispatch::ClaimConfig;

/// A digest (xxh3-128) of everything that the future of a world at rest depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(pub u128);

/// A rest point of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestPoint {
    /// How many of [`crate::Outcome::sites`] had been reached by then.
    pub sites: u32,
    /// The state in which the world rested.
    pub state: State,
}

/// Whether an execution may be cut at a rest point with this state.
pub type Known<'a> = &'a dyn Fn(State) -> bool;

/// Who wants to know of rest points.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) known: Known<'a>,
    pub(crate) judging: &'a Judging,
}

/// Why the states of a scenario cannot be read off the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// A guard, handler or downstream of a test's own may remember anything.
    OwnParts,
    /// The guard remembers in the memory of its process.
    GuardMemory,
    /// The broker may lose its last settlements, so that what is over comes back.
    UnsyncedBroker,
    /// The next slot of a timer with a delay follows from the end of the run before.
    DelayedTimer,
    /// Processes or timers are replaced while everything runs.
    Changes,
    /// Who leads or owns remembers what it believes.
    Believes,
    /// An admin remembers whom it has called.
    RouteMemory,
}

impl Opaque {
    /// As a reader is told.
    pub const fn reason(self) -> &'static str {
        match self {
            Opaque::OwnParts => "a part of the test's own may remember anything",
            Opaque::GuardMemory => "the guard remembers in the memory of its process",
            Opaque::UnsyncedBroker => "what the broker has not brought to the disk may come back",
            Opaque::Changes => "processes or timers are replaced while everything runs",
            Opaque::Believes => "who leads or owns shards remembers what it believes",
            Opaque::DelayedTimer => {
                "the next slot of a timer with a delay follows from its last run"
            }
            Opaque::RouteMemory => "an admin remembers in its process whom it has called",
        }
    }
}

impl Setup {
    /// Whether states can be read off the world at rest.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn transparent(&self) -> Result<(), Opaque> {
        if self.parts.any() {
            return Err(Opaque::OwnParts);
        }
        if self.scenario.guard.remembers_in_process() {
            return Err(Opaque::GuardMemory);
        }
        let leads = matches!(self.scenario.dispatch.claim, ClaimConfig::Leader(_));
        if leads || self.scenario.topology.kind == TopologyKind::Sharded {
            return Err(Opaque::Believes);
        }
        let routed = self.blueprint.routed.as_ref();
        if routed.is_some_and(|routed| routed.route.remembers()) {
            return Err(Opaque::RouteMemory);
        }
        if self.constants.broker.forgets_settlements() {
            return Err(Opaque::UnsyncedBroker);
        }
        if !self.scenario.deploys.is_empty() || !self.scenario.changes.is_empty() {
            return Err(Opaque::Changes);
        }
        if self
            .blueprint
            .timers
            .iter()
            .any(|timer| timer.delay.is_some())
        {
            return Err(Opaque::DelayedTimer);
        }
        Ok(())
    }
}

impl World {
    /// Before time goes on to `next`: notes a rest point, if this is one; true if the execution may
    /// be cut here.
    pub(crate) fn rests(&mut self, watch: Watch<'_>, next: Entry) -> bool {
        let sites = u32::try_from(self.injector.reached()).unwrap_or(u32::MAX);
        let noted = self
            .rest_points
            .last()
            .is_some_and(|last| last.sites == sites);
        if noted || !self.may_rest(next) {
            return false;
        }
        let Some(waiting) = self.waiting() else {
            return false;
        };
        let state = Reading::of(self, &waiting, watch.judging).digest();
        // What lies between two rests in the same state has changed nothing.
        if self.rest_points.iter().any(|rest| rest.state == state) {
            return false;
        }
        self.rest_points.push(RestPoint { sites, state });
        (watch.known)(state)
    }

    /// What is cheap to see.
    fn may_rest(&self, next: Entry) -> bool {
        let Action::Wake(task) = next.action else {
            return false;
        };
        self.injector.all_struck()
            && self.now >= self.healed_at
            && self.armed.iter().any(|armed| armed.task == Some(task))
            && self.processes.iter().all(|process| process.rests(self.now))
            && !self.broker.is_down()
            && !self.locks.server.is_down()
            && self.broker.messages().iter().all(broker::Message::is_over)
            && self.broker.is_quiet()
            && self.executors.are_quiet()
            && self.database.rests(self.timestamp())
            && self.downstream.rests()
            && self.hanging_attempts().next().is_none()
    }

    /// Every live task with what it waits for, if each waits for something that tells all of its
    /// memory, and nothing else is going to happen.
    fn waiting(&mut self) -> Option<Waiting> {
        let mut waiting = Waiting {
            slots: Vec::new(),
            consumers: self.broker.model().consumers().copied().collect(),
        };
        for entry in self.agenda.entries() {
            match entry.action {
                Action::Wake(task) if self.tasks.is_alive(task) => {
                    waiting.slots.push((entry.at, entry.instance, task));
                }
                Action::Start(_) | Action::BrokerUp | Action::DatabaseUp | Action::LockUp => {
                    return None;
                }
                Action::Depart(call)
                | Action::Arrive(call)
                | Action::ArriveAgain(call)
                | Action::Answer(call)
                    if self.calls.get(call).is_some() =>
                {
                    return None;
                }
                Action::Expire(call)
                    if self.calls.get(call).is_some_and(|call| call.task.is_some()) =>
                {
                    return None;
                }
                Action::Poll(place) if self.polls_at(place, entry.at) => return None,
                // The deadline of something that is over.
                _ => {}
            }
        }
        let armed = |task: TaskKey| self.armed.iter().any(|armed| armed.task == Some(task));
        if !waiting.slots.iter().all(|(_, _, task)| armed(*task)) {
            return None;
        }
        let idle = self.pollers.iter().filter(|poller| poller.task.is_some());
        let called = self.executors.waiting();
        let called = called.filter(|(_, task)| self.tasks.is_alive(*task));
        let accounted =
            waiting.slots.len() + waiting.consumers.len() + idle.count() + called.count();
        (accounted == self.tasks.alive_in_all()
            && waiting.slots.len() == self.armed.len()
            && waiting.consumers.len() == self.calls.waited_for())
        .then_some(waiting)
    }
}

/// What the live tasks of a world at rest wait for, in the order in which it will come.
pub(crate) struct Waiting {
    /// For a slot: until when, in which instance.
    pub(crate) slots: Vec<(Ms, u8, TaskKey)>,
    /// For a message, the one that has waited longest first.
    pub(crate) consumers: Vec<crate::calls::CallKey>,
}
