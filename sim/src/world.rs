//! The simulated world: instances, servers, what is going to happen, and what has happened.

use crate::agenda::{Action, Agenda, Ms};
use crate::calls::Calls;
use crate::clock::WallClock;
use crate::injector::Injector;
use crate::keyed::{self, Use};
use crate::outcome::Reached;
use crate::pollers::Poller;
use crate::process::Process;
use crate::rest_point::RestPoint;
use crate::servers::broker::Broker;
use crate::servers::coordinator;
use crate::servers::database::Database;
use crate::servers::downstream::DownstreamModel;
use crate::servers::executors::Executors;
use crate::servers::lock::Locks;
use crate::setup::{Constants, Setup};
use crate::stage::Execution;
use crate::tasks::{TaskKey, Tasks};
use evidence::{Event, FaultNote, Ids, InstanceId, RunKey, Slot, Step, Timestamp, What};
use rustc_hash::{FxBuildHasher, FxHashMap};
use scenarios::spec::{Fault, Phase, Plan, RunRef, Site};
use scheduler::marks::Marks;
use servers::coordinator::Coordinator;
use std::sync::Arc;

/// A slot that an instance waits for.
pub(crate) struct Armed {
    pub(crate) instance: u8,
    pub(crate) slot: Slot,
    pub(crate) task: Option<TaskKey>,
}

/// An attempt that has begun.
struct OpenAttempt {
    instance: u8,
    incarnation: u16,
    slot: Slot,
}

/// Everything of one execution.
pub(crate) struct World {
    pub(crate) constants: Arc<Constants>,
    pub(crate) execution: Execution,
    pub(crate) seed: u64,
    pub(crate) now: Ms,
    pub(crate) agenda: Agenda,
    pub(crate) tasks: Tasks,
    pub(crate) calls: Calls,
    pub(crate) processes: Vec<Process>,
    pub(crate) injector: Injector,
    pub(crate) pollers: Vec<Poller>,
    pub(crate) database: Database,
    /// When the database next does something by itself, as far as the agenda knows.
    pub(crate) database_due: Option<Ms>,
    pub(crate) broker: Broker,
    pub(crate) locks: Locks,
    pub(crate) coordinator: Coordinator<coordinator::Member>,
    pub(crate) downstream: DownstreamModel,
    pub(crate) executors: Executors,
    pub(crate) events: Vec<Event>,
    /// The marks of the pipeline that were come to.
    pub(crate) marks: Marks,
    pub(crate) armed: Vec<Armed>,
    open_attempts: Vec<OpenAttempt>,
    /// Slots of timers whose planned times follow from what happens.
    pub(crate) discovered: Vec<(Slot, Timestamp, RunKey)>,
    pub(crate) occurrences: FxHashMap<u64, u16>,
    pub(crate) numbers: FxHashMap<u64, u16>,
    /// Noted where somebody watches.
    pub(crate) rest_points: Vec<RestPoint>,
    /// The latest of their times so far.
    pub(crate) last_discovered: Ms,
    /// Polls of tasks, once it has ended.
    pub(crate) polls: u64,
    /// Entries of the ledger.
    pub(crate) ledger: u32,
    /// When the last fault that has struck is over.
    pub(crate) healed_at: Ms,
    /// Instances to be started, which needs the world unlocked.
    pub(crate) starting: Vec<u8>,
}

impl World {
    /// A world without instances.
    pub(crate) fn new(constants: Arc<Constants>) -> Self {
        World {
            constants,
            execution: Execution::OWN,
            seed: 0,
            now: 0,
            agenda: Agenda::new(),
            tasks: Tasks::new(),
            calls: Calls::new(),
            processes: Vec::new(),
            injector: Injector::new(),
            pollers: Vec::new(),
            database: Database::default(),
            database_due: None,
            broker: Broker::new(),
            locks: Locks::default(),
            coordinator: coordinator::open(None),
            downstream: DownstreamModel::new(),
            executors: Executors::default(),
            events: Vec::new(),
            marks: Marks::default(),
            armed: Vec::new(),
            open_attempts: Vec::new(),
            discovered: Vec::new(),
            last_discovered: 0,
            occurrences: FxHashMap::with_capacity_and_hasher(56, FxBuildHasher),
            numbers: FxHashMap::with_capacity_and_hasher(14, FxBuildHasher),
            rest_points: Vec::new(),
            polls: 0,
            ledger: 0,
            healed_at: 0,
            starting: Vec::new(),
        }
    }

    /// Whatever happened here is forgotten, and only what was allocated for it is kept: a world in
    /// which nothing has happened yet and every instance is about to start.
    pub(crate) fn begin(&mut self, setup: &Setup, seed: u64, plan: &Plan) {
        // Named one by one, so that no part can be left out.
        let World {
            constants,
            execution,
            seed: seeded,
            now,
            agenda,
            tasks,
            calls,
            processes,
            injector,
            pollers,
            database,
            database_due,
            broker,
            locks,
            coordinator,
            downstream,
            executors,
            events,
            marks,
            armed,
            open_attempts,
            discovered,
            last_discovered,
            occurrences,
            numbers,
            rest_points,
            polls,
            ledger,
            healed_at,
            starting,
        } = self;
        if !Arc::ptr_eq(constants, &setup.constants) {
            *constants = setup.constants.clone();
        }
        *execution = setup.execution();
        (*seeded, *now, *ledger) = (seed, 0, 0);
        (*healed_at, *last_discovered, *polls) = (0, 0, 0);
        agenda.clear();
        tasks.clear();
        calls.clear();
        injector.plan(plan);
        pollers.clear();
        database.open(&constants.database);
        *database_due = None;
        broker.open(&constants.broker);
        locks.open(&setup.scenario.lock);
        *coordinator = coordinator::open(setup.scenario.coordinator.as_ref());
        let outside = setup.parts.downstream.as_ref().map(|make| make());
        downstream.open(setup.scenario.downstream.terms(), outside);
        let called = setup.blueprint.routed.as_ref();
        executors.open(called.map_or(0, |_| constants.conditions.len()));
        *events = Vec::with_capacity(64);
        *marks = Marks::default();
        armed.clear();
        rest_points.clear();
        open_attempts.clear();
        discovered.clear();
        occurrences.clear();
        numbers.clear();
        starting.clear();
        processes.truncate(constants.conditions.len());
        for (instance, conditions) in (0..).zip(&constants.conditions) {
            agenda.add(conditions.starts_at.ms(), instance, Action::Start(instance));
            if let Some(at) = constants.retirements[usize::from(instance)] {
                agenda.add(at, instance, Action::Retire(instance));
            }
            let clock = WallClock::new(constants.epoch, &conditions.clock);
            match processes.get_mut(usize::from(instance)) {
                Some(process) => process.renew(clock),
                None => processes.push(Process::new(clock)),
            }
        }
    }

    /// A timer with a delay has come to a slot: the last planned time before it is fired counts.
    pub(crate) fn discover(&mut self, slot: Slot, scheduled: Timestamp, run: &RunKey) {
        // Planned ones are in the order of their slots.
        let known = self
            .constants
            .planned
            .binary_search_by_key(&slot, |planned| planned.slot)
            .is_ok();
        if known || self.constants.planned.len() == self.constants.slots {
            return;
        }
        match self
            .discovered
            .iter_mut()
            .rev()
            .find(|(known, _, _)| *known == slot)
        {
            Some(found) => {
                let before = std::mem::replace(found, (slot, scheduled, run.clone()));
                if before.1 > scheduled {
                    let times = self.discovered.iter().map(|(_, at, _)| *at);
                    self.last_discovered = times.max().map_or(0, |at| self.since_epoch(at));
                }
            }
            None => self.discovered.push((slot, scheduled, run.clone())),
        }
        self.last_discovered = self.last_discovered.max(self.since_epoch(scheduled));
    }

    fn since_epoch(&self, at: Timestamp) -> Ms {
        u64::try_from(at.0 - self.constants.epoch.0).unwrap_or(0)
    }

    /// The world's clock as everybody's history tells it.
    pub(crate) fn timestamp(&self) -> Timestamp {
        self.constants
            .epoch
            .plus_ms(i64::try_from(self.now).unwrap_or(i64::MAX / 4))
    }

    /// One event.
    pub(crate) fn record(
        &mut self,
        instance: u8,
        incarnation: u16,
        step: &'static Step,
        what: What,
        ids: Ids,
    ) {
        self.watch_attempts(instance, incarnation, &what, &ids);
        let at = self.timestamp();
        let instance = InstanceId(instance);
        self.events.push(Event {
            at,
            instance,
            incarnation,
            step,
            what,
            ids,
        });
    }

    fn watch_attempts(&mut self, instance: u8, incarnation: u16, what: &What, ids: &Ids) {
        let Some(slot) = ids.slot.truth() else { return };
        match what {
            What::AttemptStarted => {
                self.open_attempts.push(OpenAttempt {
                    instance,
                    incarnation,
                    slot,
                });
            }
            What::AttemptEnded(_) => {
                if let Some(place) = self.open_attempts.iter().position(|attempt| {
                    attempt.slot == slot
                        && attempt.instance == instance
                        && attempt.incarnation == incarnation
                }) {
                    self.open_attempts.swap_remove(place);
                }
            }
            _ => {}
        }
    }

    /// Slots of which an attempt has begun and not ended, in an instance that is still alive.
    pub(crate) fn hanging_attempts(&self) -> impl Iterator<Item = Slot> {
        self.open_attempts
            .iter()
            .filter(|attempt| self.is_current(attempt.instance, attempt.incarnation))
            .map(|attempt| attempt.slot)
    }

    /// Whether this incarnation is the one that is alive.
    pub(crate) fn is_current(&self, instance: u8, incarnation: u16) -> bool {
        let process = &self.processes[usize::from(instance)];
        process.alive && process.incarnation == incarnation
    }

    /// Counts an occurrence of (instance, step, run), over all incarnations, from 1.
    pub(crate) fn occur(&mut self, instance: u8, step: &'static Step, run: RunRef) -> u16 {
        let n = self
            .occurrences
            .entry(key_of(instance, step, run))
            .or_insert(0);
        *n = n.saturating_add(1);
        *n
    }

    /// A number that looks random, by (seed, instance, step, run, how often it was asked).
    pub(crate) fn random(&mut self, instance: u8, step: &'static Step, run: RunRef) -> u64 {
        let key = key_of(instance, step, run);
        let n = self.numbers.entry(key).or_insert(0);
        *n = n.saturating_add(1);
        keyed::number(self.seed, key | u64::from(*n) << 48, Use::Number)
    }

    /// A strike point is reached: gives the fault that the plan has here.
    pub(crate) fn reach(
        &mut self,
        instance: u8,
        step: &'static Step,
        run: RunRef,
        n: u16,
        phase: Phase,
    ) -> Option<Fault> {
        let site = Site {
            instance: InstanceId(instance),
            step: step.number,
            run,
            n,
            phase,
        };
        let replayable = match run {
            RunRef::Slot(slot) if phase == Phase::Before => self.broker.accepted(slot).is_some(),
            _ => false,
        };
        self.injector.reach(Reached { site, replayable })
    }

    /// The timeline's line for a fault.
    pub(crate) fn note(
        &mut self,
        fault: &Fault,
        step: &'static Step,
        ids: &Ids,
        until: Option<Ms>,
    ) {
        let instance = fault.site.instance.0;
        let incarnation = self.processes[usize::from(instance)].incarnation;
        let detail = if self.constants.tell {
            crate::faults::tell(self, fault, step, until).into()
        } else {
            self.constants.nothing.clone()
        };
        let what = What::Fault(FaultNote {
            kind: fault.kind as u8,
            name: fault.kind.name(),
            detail,
            magnitude_ms: fault.magnitude_ms,
        });
        if let Some(until) = until {
            self.healed_at = self.healed_at.max(until);
        }
        self.healed_at = self.healed_at.max(self.now);
        self.record(instance, incarnation, step, what, ids.clone());
    }

    /// An attempt that was cut short by the end of its instance is over.
    pub(crate) fn forget_dead_attempts(&mut self) {
        let processes = &self.processes;
        self.open_attempts.retain(|attempt| {
            let process = &processes[usize::from(attempt.instance)];
            process.alive && process.incarnation == attempt.incarnation
        });
    }
}

/// Packs (instance, step, run) into 48 bits.
pub(crate) const fn key_of(instance: u8, step: &'static Step, run: RunRef) -> u64 {
    let run = match run {
        RunRef::None => 0,
        RunRef::Slot(slot) => 1 + ((slot.timer as u64) << 24 | slot.ordinal as u64 & 0xff_ffff),
    };
    (instance as u64) << 40 ^ (step.number as u64) << 33 ^ run
}

/// The run in a packed (instance, step, run).
pub(crate) const fn run_in(key: u64) -> RunRef {
    match (key & ((1 << 33) - 1)).checked_sub(1) {
        None => RunRef::None,
        Some(run) => RunRef::Slot(Slot {
            timer: (run >> 24) as u16,
            ordinal: (run & 0xff_ffff) as u32,
        }),
    }
}

/// The run that a site belongs to.
pub(crate) fn run_of(ids: &Ids) -> RunRef {
    ids.slot.truth().map_or(RunRef::None, RunRef::Slot)
}
