//! A scenario made ready: everything that is the same in all its executions is computed once.

use crate::agenda::Ms;
use crate::keyed::LEG_MAX_MS;
use crate::servers::broker::Terms;
use crate::servers::database::{Profile, Rules};
use crate::servers::downstream::Outside;
use crate::stage::Execution;
use crate::watchdog::WATCHDOG;
use evidence::{Cast, InstanceId, Planned, Slot, TimerId, Timestamp};
use scenarios::Scenario;
use scenarios::file::{Confirm, DatabaseProfile, DatabaseTable, Horizon, InstanceTable};
use scheduler::guards::BusyPolicy;
use scheduler::ports::sql::Setting;
use scheduler::schedules::{Schedule, ScheduleConfig, ScheduleError, Timetable};
use scheduler::topologies::routed::WATCH_EVERY;
use scheduler::topologies::{Blueprint, GuardFactory, HandlerFactory, Parts as PipelineParts};
use scheduler::{IdentityKey, Span, Timer};
use servers::database::Flavor;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Makes a test's own downstream, once an execution.
pub type OutsideFactory = dyn Fn() -> Box<dyn Outside> + Send + Sync;

/// Parts that a test brings along instead of the scenario's.
#[derive(Clone, Default)]
pub struct Parts {
    /// Instead of `[guard]`.
    pub guard: Option<Arc<GuardFactory>>,
    /// Instead of `[work] handler`.
    pub handler: Option<Arc<HandlerFactory>>,
    /// Instead of `[downstream]`.
    pub downstream: Option<Arc<OutsideFactory>>,
}

impl Parts {
    /// Whether there is any code that is not runkey's own.
    pub fn any(&self) -> bool {
        self.guard.is_some() || self.handler.is_some() || self.downstream.is_some()
    }
}

/// Why a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A timer's schedule is wrong.
    #[error("timer `{timer}`: {error}")]
    Schedule {
        /// The timer.
        timer: String,
        /// What is wrong.
        error: ScheduleError,
    },
    /// An instance is named that the topology does not have.
    #[error("there is no instance `{name}` here; there are {there_are}")]
    UnknownInstance {
        /// The name.
        name: String,
        /// The names that exist.
        there_are: String,
    },
}

/// A scenario with its parts, ready to be executed any number of times, on any thread.
#[derive(Clone)]
pub struct Setup {
    pub(crate) constants: Arc<Constants>,
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) parts: Parts,
    /// How long an execution with parts of a user's own may take in real time.
    pub(crate) watchdog: Duration,
    /// Which line of the pipeline is worse than it should be.
    #[cfg(feature = "weakened")]
    pub(crate) weakness: Option<scheduler::weakness::Weakness>,
}

/// What every execution needs to know.
pub(crate) struct Constants {
    pub(crate) epoch: Timestamp,
    pub(crate) cast: Arc<Cast>,
    pub(crate) planned: Arc<[Planned]>,
    pub(crate) conditions: Vec<InstanceTable>,
    pub(crate) local: bool,
    pub(crate) restart_after: Ms,
    pub(crate) call_timeout: Ms,
    pub(crate) effect_latency: Ms,
    pub(crate) database: Rules,
    /// How often a client of the lock service repeats a command by itself.
    pub(crate) lock_retries: u32,
    pub(crate) renew_every: Option<Span>,
    /// Where calls are made again: after how long one without a report is.
    pub(crate) recalls: Option<Option<Span>>,
    pub(crate) broker: Terms,
    /// Whether a publisher waits for the broker's word.
    pub(crate) confirms: bool,
    /// How many slots there are in all.
    pub(crate) slots: usize,
    /// When the last slot is due.
    pub(crate) last_slot: Ms,
    /// How long after the last slot and the last fault an execution may go on.
    pub(crate) patience: Ms,
    /// How many actions an execution may take before it counts as a livelock.
    pub(crate) budget: u64,
    pub(crate) skip_idle_polls: bool,
    pub(crate) tell: bool,
    pub(crate) nothing: Arc<str>,
    pub(crate) identity: IdentityKey,
    /// The slot of every planned run, by its runKey.
    pub(crate) slot_by_run: Arc<BTreeMap<Arc<str>, Slot>>,
}

impl Setup {
    /// Makes a scenario ready.
    ///
    /// # Errors
    ///
    /// If a schedule is wrong or an instance is named that does not exist.
    pub fn new(scenario: &Scenario, parts: Parts) -> Result<Self, SetupError> {
        let mut cast = scenario.cast();
        // A guard of the user's own keeps no record that the judge could read.
        cast.keeps_record &= parts.guard.is_none();
        let timers = timers(scenario)?;
        let planned: Vec<Planned> = timers
            .iter()
            .filter(|timer| timer.delay.is_none())
            .flat_map(|timer| timer.timetable.planned().iter().cloned())
            .collect();
        let constants = constants(scenario, cast, planned);
        let local = constants.local;
        let blueprint = Blueprint {
            timers,
            dispatch: scenario.dispatch.clone(),
            guard: scenario.guard.clone(),
            protection: scenario.downstream.protection.clone(),
            work: scenario.work.clone(),
            identity: scenario.identity.key,
            recovery: scenario.recovery.clone(),
            concurrency: scenario.topology.concurrency,
            busy: if local {
                BusyPolicy::Drop
            } else {
                BusyPolicy::Defer
            },
            parts: PipelineParts {
                guard: parts.guard.clone(),
                handler: parts.handler.clone(),
            },
            routed: scenario.topology.routed(),
        };
        Ok(Setup {
            constants: Arc::new(constants),
            blueprint: Arc::new(blueprint),
            scenario: Arc::new(scenario.clone()),
            parts,
            watchdog: WATCHDOG,
            #[cfg(feature = "weakened")]
            weakness: None,
        })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The same, with every fault told in words: for an execution that a person will read.
    pub fn telling(&self) -> Self {
        self.changed(|constants| constants.tell = true)
    }

    /// The same, with every poll made, also those that find nothing: slower, and the same history.
    pub fn polling_always(&self) -> Self {
        self.changed(|constants| constants.skip_idle_polls = false)
    }

    /// The same, with one line of the pipeline worse than it should be: for the mutation run.
    #[cfg(feature = "weakened")]
    #[must_use]
    pub fn weakened(&self, weakness: scheduler::weakness::Weakness) -> Self {
        Setup {
            weakness: Some(weakness),
            ..self.clone()
        }
    }

    /// Whether ports have to tell this execution from others.
    pub(crate) fn execution(&self) -> Execution {
        if self.parts.any() {
            Execution::foreign()
        } else {
            Execution::OWN
        }
    }

    fn changed(&self, change: impl FnOnce(&mut Constants)) -> Self {
        let mut constants = Constants::clone(&self.constants);
        change(&mut constants);
        Setup {
            constants: Arc::new(constants),
            ..self.clone()
        }
    }
}

impl Clone for Constants {
    fn clone(&self) -> Self {
        Constants {
            cast: self.cast.clone(),
            planned: self.planned.clone(),
            conditions: self.conditions.clone(),
            database: self.database.clone(),
            broker: self.broker.clone(),
            nothing: self.nothing.clone(),
            slot_by_run: self.slot_by_run.clone(),
            ..*self
        }
    }
}

fn timers(scenario: &Scenario) -> Result<Vec<Timer>, SetupError> {
    let names = scenario.instance_names();
    let mut timers = Vec::with_capacity(scenario.timers.len());
    for (index, table) in (0..).zip(&scenario.timers) {
        let id = TimerId::new(table.id.as_str());
        let wrong = |error| SetupError::Schedule {
            timer: table.id.clone(),
            error,
        };
        let schedule = Schedule::compile(&table.schedule, scenario.epoch).map_err(wrong)?;
        let timetable = Timetable::new(index, &id, &schedule, scenario.epoch, table.slots);
        let delay = match table.schedule {
            ScheduleConfig::Delay { delay } => Some(delay),
            _ => None,
        };
        let on: Result<Vec<InstanceId>, SetupError> = table
            .on
            .iter()
            .map(|name| {
                let place = names.iter().position(|known| known == name);
                place
                    .and_then(|place| u8::try_from(place).ok())
                    .map(InstanceId)
                    .ok_or_else(|| {
                        let (name, there_are) = (name.clone(), names.join(", "));
                        SetupError::UnknownInstance { name, there_are }
                    })
            })
            .collect();
        timers.push(Timer {
            id,
            index,
            timetable: Arc::new(timetable.map_err(wrong)?),
            delay,
            epoch: scenario.epoch,
            slots: table.slots,
            next: table.next,
            registrations: table.registrations,
            on: on?,
        });
    }
    Ok(timers)
}

fn constants(scenario: &Scenario, cast: Cast, planned: Vec<Planned>) -> Constants {
    let epoch = scenario.epoch;
    let names = scenario.instance_names();
    let since_epoch = |at: Timestamp| u64::try_from(at.0 - epoch.0).unwrap_or(0);
    let last_slot = planned
        .iter()
        .map(|planned| since_epoch(planned.scheduled))
        .max();
    let patience = match scenario.horizon {
        Horizon::Auto => 4 * longest_deadline(scenario) + all_work(scenario),
        Horizon::After(span) => span.ms(),
    };
    let slots: u64 = scenario
        .timers
        .iter()
        .map(|timer| u64::from(timer.slots))
        .sum();
    Constants {
        epoch,
        conditions: names.iter().map(|name| scenario.conditions(name)).collect(),
        cast: Arc::new(cast),
        slot_by_run: Arc::new(
            planned
                .iter()
                .map(|planned| (planned.run.text().clone(), planned.slot))
                .collect(),
        ),
        identity: scenario.identity.key,
        planned: planned.into(),
        local: scenario.topology.kind.executes_where_it_fires(),
        restart_after: scenario.topology.restart_after.ms(),
        call_timeout: scenario.work.call_timeout.ms(),
        effect_latency: scenario.downstream.latency.ms().max(1),
        database: database(&scenario.database),
        lock_retries: scenario.lock.client_retries,
        renew_every: scenario.broker.renew_every.0,
        recalls: recalls(scenario),
        broker: Terms::of(&scenario.broker),
        confirms: scenario.broker.confirm != Confirm::Sent,
        slots: usize::try_from(slots).unwrap_or(usize::MAX),
        last_slot: last_slot.unwrap_or(0),
        patience,
        budget: 20_000 + (2_000 + BEAT_ACTIONS * scenario.beats()) * slots,
        skip_idle_polls: true,
        tell: false,
        nothing: Arc::from(""),
    }
}

fn database(table: &DatabaseTable) -> Rules {
    let in_ms = |span: Span| i64::try_from(span.ms()).unwrap_or(i64::MAX);
    Rules {
        profile: product(table),
        behind_ms: in_ms(table.failover_loses),
        replica_lag_ms: in_ms(table.replica_lag),
    }
}

/// The product that the scenario names, as its clients set it up.
fn product(table: &DatabaseTable) -> Option<Profile> {
    let flavor = match table.profile {
        DatabaseProfile::Generic => return None,
        DatabaseProfile::Postgresql => Flavor::Postgres,
        DatabaseProfile::Mariadb => Flavor::MariaDb,
    };
    Some(Profile {
        flavor,
        isolation: table.isolation,
        settings: vec![
            Setting::LockWait(table.lock_wait.0.map(Span::ms)),
            Setting::IdleInTransaction(table.idle_in_transaction.0.map(Span::ms)),
            Setting::SnapshotIsolation(table.snapshot_isolation),
            Setting::FoundRows(table.found_rows),
            Setting::Durable(table.durable),
        ],
    })
}

/// Actions that one renewal or heartbeat may cost in the budget: it is a sleep and a call, and the
/// work may be begun anew as often as a run is retried.
const BEAT_ACTIONS: u64 = 32;

/// How long the work of all slots takes one after the other: runs that queue up behind a busy
/// executor are not stuck.
fn all_work(scenario: &Scenario) -> Ms {
    let slots = scenario.timers.iter().map(|timer| u64::from(timer.slots));
    let each = scenario.work.takes.ms() + scenario.downstream.latency.ms();
    let topology = &scenario.topology;
    let calls = match topology.kind.calls_executors() {
        true => u64::from(topology.executors) * (1 + u64::from(topology.retries)),
        false => 1,
    };
    slots
        .sum::<u64>()
        .saturating_mul(each)
        .saturating_mul(calls)
}

fn recalls(scenario: &Scenario) -> Option<Option<Span>> {
    let topology = &scenario.topology;
    let recalls = topology.kind.calls_executors() && topology.retries > 0;
    recalls.then_some(topology.lost_after.0)
}

/// The longest time that anything in the set-up waits for, backoff included, in ms.
fn longest_deadline(scenario: &Scenario) -> Ms {
    let work = &scenario.work;
    let mut longest = work
        .call_timeout
        .ms()
        .max(work.takes.ms())
        .max(work.retry.max_backoff.ms());
    let broker = &scenario.broker;
    let looks = broker.checked_every.0.map_or(0, Span::ms);
    longest = longest.max(broker.ack_deadline.0.map_or(0, |span| span.ms() + looks));
    longest = longest.max(broker.session_timeout.0.map_or(0, Span::ms));
    longest = longest.max(broker.backoff.iter().max().map_or(0, |span| span.ms()) + looks);
    longest = longest
        .max(scenario.downstream.latency.ms())
        .max(scenario.recovery.every.ms());
    for (_, deadline) in scenario.guard.deadlines() {
        longest = longest.max(deadline.ms());
    }
    if let Some(lost_after) = recalls(scenario) {
        // Each call may be lost.
        let looked = lost_after.map_or(0, Span::ms) + WATCH_EVERY.ms();
        longest = longest.max(looked * u64::from(scenario.topology.retries));
    }
    longest = longest.max(scenario.topology.cancels_after().map_or(0, Span::ms));
    if let scheduler::guards::GuardConfig::StateMachine(config) = &scenario.guard {
        longest = longest.max(config.sweep_queued_after.0.map_or(0, Span::ms));
    }
    if let scheduler::dispatch::ClaimConfig::LockRow(config) = &scenario.dispatch.claim {
        longest = longest.max(config.max_hold.ms()).max(config.min_hold.ms());
    }
    longest.max(LEG_MAX_MS)
}
