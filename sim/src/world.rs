//! The simulated world: instances, servers, what is going to happen, and what has happened.

use crate::agenda::{Action, Agenda, Entry, Ms};
use crate::calls::Calls;
use crate::clock::WallClock;
use crate::injector::Injector;
use crate::keyed::{self, Use};
use crate::outcome::Reached;
use crate::pollers::Poller;
use crate::servers::broker::Broker;
use crate::servers::database::Database;
use crate::servers::downstream::DownstreamModel;
use crate::servers::lock::Locks;
use crate::setup::Constants;
use crate::tasks::{TaskKey, Tasks};
use evidence::{Event, FaultNote, Ids, InstanceId, RunKey, Slot, Step, Timestamp, What};
use rustc_hash::{FxBuildHasher, FxHashMap};
use scenarios::spec::{Fault, Phase, RunRef, Site};
use scheduler::steps;
use std::sync::Arc;

/// The link between an instance and a server, one direction each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    /// Nothing passes from the instance to the server before this.
    pub(crate) to_server: Ms,
    /// Nothing passes from the server to the instance before this.
    pub(crate) from_server: Ms,
}

/// One process, as the simulator sees it.
pub(crate) struct Process {
    pub(crate) incarnation: u16,
    pub(crate) alive: bool,
    pub(crate) stopping: bool,
    pub(crate) paused_until: Option<Ms>,
    /// What happened while it stood still, and its tasks that were ready.
    stalled: Vec<Entry>,
    stalled_tasks: Vec<TaskKey>,
    pub(crate) clock: WallClock,
    /// By [`scenarios::spec::Server`].
    pub(crate) links: [Link; 4],
    /// Tasks that want to know of a stop.
    pub(crate) stop_waiters: Vec<TaskKey>,
}

/// A slot that an instance waits for.
pub(crate) struct Armed {
    pub(crate) instance: u8,
    pub(crate) slot: Slot,
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
    pub(crate) seed: u64,
    pub(crate) now: Ms,
    pub(crate) agenda: Agenda,
    pub(crate) tasks: Tasks,
    pub(crate) calls: Calls,
    pub(crate) processes: Vec<Process>,
    pub(crate) injector: Injector,
    pub(crate) pollers: Vec<Poller>,
    pub(crate) database: Database,
    pub(crate) broker: Broker,
    pub(crate) locks: Locks,
    pub(crate) downstream: DownstreamModel,
    pub(crate) events: Vec<Event>,
    pub(crate) armed: Vec<Armed>,
    open_attempts: Vec<OpenAttempt>,
    /// Slots of timers whose planned times follow from what happens.
    pub(crate) discovered: Vec<(Slot, Timestamp, RunKey)>,
    occurrences: FxHashMap<u64, u16>,
    numbers: FxHashMap<u64, u16>,
    /// Entries of the ledger.
    pub(crate) ledger: u32,
    /// When the last fault that has struck is over.
    pub(crate) healed_at: Ms,
    /// Instances to be started, which needs the world unlocked.
    pub(crate) starting: Vec<u8>,
}

impl World {
    /// A world in which nothing has happened yet and every instance is about to start.
    #[allow(
        clippy::too_many_arguments,
        reason = "one argument for each part of the world"
    )]
    pub(crate) fn at_rest(
        constants: Arc<Constants>,
        seed: u64,
        tasks: Tasks,
        injector: Injector,
        database: Database,
        broker: Broker,
        locks: Locks,
        downstream: DownstreamModel,
    ) -> Self {
        let mut agenda = Agenda::new();
        let mut processes = Vec::with_capacity(constants.conditions.len());
        for (instance, conditions) in (0..).zip(&constants.conditions) {
            agenda.add(conditions.starts_at.ms(), instance, Action::Start(instance));
            processes.push(Process {
                incarnation: 0,
                alive: false,
                stopping: false,
                paused_until: None,
                stalled: Vec::new(),
                stalled_tasks: Vec::new(),
                clock: WallClock::new(constants.epoch, &conditions.clock),
                links: [Link::default(); 4],
                stop_waiters: Vec::new(),
            });
        }
        World {
            constants,
            seed,
            now: 0,
            agenda,
            tasks,
            calls: Calls::new(),
            processes,
            injector,
            pollers: Vec::new(),
            database,
            broker,
            locks,
            downstream,
            events: Vec::with_capacity(64),
            armed: Vec::new(),
            open_attempts: Vec::new(),
            discovered: Vec::new(),
            occurrences: FxHashMap::with_capacity_and_hasher(56, FxBuildHasher),
            numbers: FxHashMap::with_capacity_and_hasher(14, FxBuildHasher),
            ledger: 0,
            healed_at: 0,
            starting: Vec::new(),
        }
    }

    /// A timer with a delay has come to a slot: the last planned time before it is fired counts.
    pub(crate) fn discover(&mut self, slot: Slot, scheduled: Timestamp, run: &RunKey) {
        let known = self
            .constants
            .planned
            .iter()
            .any(|planned| planned.slot == slot);
        if known || self.constants.planned.len() == self.constants.slots {
            return;
        }
        match self
            .discovered
            .iter_mut()
            .find(|(known, _, _)| *known == slot)
        {
            Some(found) => *found = (slot, scheduled, run.clone()),
            None => self.discovered.push((slot, scheduled, run.clone())),
        }
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

    /// The instance dies; gives when it is back.
    pub(crate) fn crash(&mut self, instance: u8) -> Ms {
        let back = self.now + self.constants.restart_after;
        self.end_process(instance);
        self.agenda.add(back, instance, Action::Start(instance));
        back
    }

    /// Everything that lives in the instance is gone, and its connections with it.
    fn end_process(&mut self, instance: u8) {
        let process = &mut self.processes[usize::from(instance)];
        process.alive = false;
        process.stopping = false;
        process.paused_until = None;
        process.stalled.clear();
        process.stalled_tasks.clear();
        process.stop_waiters.clear();
        self.tasks.kill(instance);
        self.armed.retain(|armed| armed.instance != instance);
        for poller in &mut self.pollers {
            if poller.instance == instance {
                poller.task = None;
                poller.scheduled = None;
            }
        }
        self.disconnected(instance);
    }

    /// The instance stands still.
    pub(crate) fn pause(&mut self, instance: u8, until: Ms) {
        let process = &mut self.processes[usize::from(instance)];
        let until = process
            .paused_until
            .map_or(until, |already| already.max(until));
        process.paused_until = Some(until);
        self.agenda.add(until, instance, Action::Resume(instance));
    }

    /// The instance is asked to stop.
    pub(crate) fn ask_to_stop(&mut self, instance: u8) {
        let process = &mut self.processes[usize::from(instance)];
        if process.stopping {
            return;
        }
        process.stopping = true;
        let incarnation = process.incarnation;
        let waiters = std::mem::take(&mut process.stop_waiters);
        for task in waiters {
            self.tasks.wake(task);
        }
        for place in 0..self.pollers.len() {
            if self.pollers[place].instance == instance {
                self.wake_poller(place);
            }
        }
        let grace = self.now + STOP_GRACE_MS;
        self.agenda.add(
            grace,
            instance,
            Action::StopGraceOver(instance, incarnation),
        );
    }

    /// If the instance was asked to stop and nothing of it is left, it is stopped.
    pub(crate) fn stop_if_idle(&mut self, instance: u8) {
        let process = &self.processes[usize::from(instance)];
        if process.alive && process.stopping && self.tasks.alive(instance) == 0 {
            self.stop(instance);
        }
    }

    /// The instance stops, and is back later.
    pub(crate) fn stop(&mut self, instance: u8) {
        let incarnation = self.processes[usize::from(instance)].incarnation;
        self.record(
            instance,
            incarnation,
            &steps::INSTANCE,
            What::Stopped,
            Ids::default(),
        );
        let back = self.crash(instance);
        self.healed_at = self.healed_at.max(back);
    }

    /// Keeps what a paused instance cannot do now; true if it was kept.
    pub(crate) fn stall(&mut self, entry: Entry) -> bool {
        let process = &mut self.processes[usize::from(entry.instance)];
        let stalls = process.paused_until.is_some() && entry.action.belongs_to_instance();
        if stalls {
            process.stalled.push(entry);
        }
        stalls
    }

    /// Keeps a ready task of a paused instance; true if it was kept.
    pub(crate) fn stall_task(&mut self, task: TaskKey) -> bool {
        let Some(instance) = self.tasks.instance(task) else {
            return false;
        };
        let process = &mut self.processes[usize::from(instance)];
        if process.paused_until.is_none() {
            return false;
        }
        process.stalled_tasks.push(task);
        self.tasks.unqueue(task);
        true
    }

    /// A pause is over (unless a longer one goes on); gives what had to wait, in order.
    pub(crate) fn resume(&mut self, instance: u8) -> Vec<Entry> {
        let process = &mut self.processes[usize::from(instance)];
        if process.paused_until.is_none_or(|until| until > self.now) {
            return Vec::new();
        }
        process.paused_until = None;
        for task in std::mem::take(&mut process.stalled_tasks) {
            self.tasks.wake(task);
        }
        std::mem::take(&mut process.stalled)
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

/// How long an instance that was asked to stop may take for what it has begun (the default
/// terminationGracePeriodSeconds of Kubernetes, 30 s).
pub(crate) const STOP_GRACE_MS: Ms = 30_000;

/// Packs (instance, step, run) into 48 bits.
pub(crate) const fn key_of(instance: u8, step: &'static Step, run: RunRef) -> u64 {
    let run = match run {
        RunRef::None => 0,
        RunRef::Slot(slot) => 1 + ((slot.timer as u64) << 24 | slot.ordinal as u64 & 0xff_ffff),
    };
    (instance as u64) << 40 ^ (step.number as u64) << 33 ^ run
}

/// The run that a site belongs to.
pub(crate) fn run_of(ids: &Ids) -> RunRef {
    ids.slot.truth().map_or(RunRef::None, RunRef::Slot)
}
