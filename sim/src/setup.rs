//! A scenario made ready: everything that is the same in all its executions is computed once.

use crate::agenda::Ms;
use crate::servers::broker::Terms;
use crate::servers::database::{Profile, Rules};
use crate::servers::downstream::Outside;
use crate::stage::Execution;
use crate::timers::Timers;
use crate::watchdog::WATCHDOG;
use evidence::{Cast, Planned, Slot, Timestamp};
use scenarios::Scenario;
use scenarios::file::{Confirm, DatabaseProfile, DatabaseTable, Horizon, InstanceTable};
use scheduler::guards::BusyPolicy;
use scheduler::observe::Observer;
use scheduler::ports::sql::Setting;
use scheduler::schedules::ScheduleError;
use scheduler::topologies::{
    Blueprint, GuardFactory, HandlerFactory, Parts as PipelineParts, Role,
};
use scheduler::{IdentityKey, Span, Timer};
use servers::database::Flavor;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

mod patience;

use patience::{BEAT_ACTIONS, all_work, longest_deadline, of_polls, recalls, renewals};

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
    /// What each process that a deploy brings is built from.
    pub(crate) deployed: Vec<Arc<Blueprint>>,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) parts: Parts,
    /// How long an execution with parts of a user's own may take in real time.
    pub(crate) watchdog: Duration,
    /// Who watches the instances.
    pub(crate) observer: Option<Observer>,
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
    /// Whether there is a coordinator.
    pub(crate) coordinated: bool,
    /// Whether workers poll the rows of timers.
    pub(crate) polls_timers: bool,
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
    /// What each process does.
    pub(crate) roles: Vec<Role>,
    /// When each process is asked to stop for good.
    pub(crate) retirements: Vec<Option<Ms>>,
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
        let mut timers = Timers::of(scenario)?;
        let constants = constants(scenario, cast, &mut timers);
        let deployed = scenario.deployed().zip(timers.deployed);
        let deployed = deployed.map(|((_, deployed), timers)| {
            let configured = &deployed.deploy.scenario;
            Arc::new(blueprint(configured, timers, &parts))
        });
        Ok(Setup {
            deployed: deployed.collect(),
            constants: Arc::new(constants),
            blueprint: Arc::new(blueprint(scenario, timers.first, &parts)),
            scenario: Arc::new(scenario.clone()),
            parts,
            watchdog: WATCHDOG,
            observer: None,
            #[cfg(feature = "weakened")]
            weakness: None,
        })
    }

    /// What the process at this place is built from.
    pub(crate) fn blueprint_of(&self, place: u8) -> &Arc<Blueprint> {
        let first = self.constants.cast.instances.len() - self.deployed.len();
        let deployed = usize::from(place).checked_sub(first);
        let deployed = deployed.and_then(|nth| self.deployed.get(nth));
        deployed.unwrap_or(&self.blueprint)
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

    /// The same, with an observer in every instance: log lines, counts and health of simulated
    /// processes, as of real ones. The history stays what it is.
    #[must_use]
    pub fn watched(&self, observer: Observer) -> Self {
        Setup {
            observer: Some(observer),
            ..self.clone()
        }
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
            retirements: self.retirements.clone(),
            roles: self.roles.clone(),
            ..*self
        }
    }
}

/// What the processes with this configuration are built from.
fn blueprint(scenario: &Scenario, timers: Vec<Timer>, parts: &Parts) -> Blueprint {
    let shards = scenario.shards_of_timers();
    Blueprint {
        dispatch: scenario.dispatch.clone(),
        guard: scenario.guard.clone(),
        protection: scenario.downstream.protection.clone(),
        work: scenario.work.clone(),
        identity: scenario.identity.key,
        recovery: scenario.recovery.clone(),
        polled: scenario.polled(),
        routed: scenario.topology.routed(),
        coordinator: scenario.coordinator.as_ref().map(|table| table.session()),
        shards: timers
            .iter()
            .filter_map(|timer| shards.get(usize::from(timer.index)).copied())
            .collect(),
        timers,
        concurrency: scenario.topology.concurrency,
        busy: match scenario.topology.executes_where_it_fires() {
            true => BusyPolicy::Drop,
            false => BusyPolicy::Defer,
        },
        parts: PipelineParts {
            guard: parts.guard.clone(),
            handler: parts.handler.clone(),
        },
    }
}

fn constants(scenario: &Scenario, cast: Cast, timers: &mut Timers) -> Constants {
    let planned = std::mem::take(&mut timers.planned);
    let changes = !scenario.deploys.is_empty() || !scenario.changes.is_empty();
    let epoch = scenario.epoch;
    let names = scenario.instance_names();
    let since_epoch = |at: Timestamp| u64::try_from(at.0 - epoch.0).unwrap_or(0);
    let retirements = (0..)
        .zip(&names)
        .map(|(place, _)| scenario.retires_at(place));
    let retirements: Vec<Option<Ms>> = retirements.map(|at| at.map(Span::ms)).collect();
    let happens = scenario.changes.iter().map(|change| change.at.ms());
    let happens = happens.chain(retirements.iter().flatten().copied());
    let last_slot = timers
        .last
        .map(since_epoch)
        .into_iter()
        .chain(happens)
        .max();
    let patience = match scenario.horizon {
        Horizon::Auto => 4 * longest_deadline(scenario) + all_work(scenario),
        Horizon::After(span) => span.ms(),
    };
    let slots: u64 = scenario
        .timers_at_work()
        .iter()
        .map(|timer| u64::from(timer.slots))
        .sum();
    let slot_by_run: BTreeMap<Arc<str>, Slot> = planned
        .iter()
        .map(|planned| (planned.run.text().clone(), planned.slot))
        .collect();
    let in_all = match changes {
        true => planned.len(),
        false => usize::try_from(slots).unwrap_or(usize::MAX),
    };
    Constants {
        epoch,
        conditions: names.iter().map(|name| scenario.conditions(name)).collect(),
        cast: Arc::new(cast),
        slot_by_run: Arc::new(slot_by_run),
        identity: scenario.identity.key,
        planned: planned.into(),
        local: scenario.topology.executes_where_it_fires(),
        coordinated: scenario.coordinator.is_some(),
        polls_timers: scenario.topology.polls_timers(),
        restart_after: scenario.topology.restart_after.ms(),
        call_timeout: scenario.work.call_timeout.ms(),
        effect_latency: scenario.downstream.latency.ms().max(1),
        database: database(&scenario.database),
        lock_retries: scenario.lock.client_retries,
        renew_every: scenario.broker.renew_every.0,
        recalls: recalls(scenario),
        broker: Terms::of(&scenario.broker),
        confirms: scenario.broker.confirm != Confirm::Sent,
        slots: in_all,
        retirements,
        roles: (0..)
            .zip(&names)
            .map(|(place, _)| scenario.role(place))
            .collect(),
        last_slot: last_slot.unwrap_or(0),
        patience,
        budget: 20_000
            + (2_000 + BEAT_ACTIONS * scenario.beats()) * slots
            + BEAT_ACTIONS * renewals(scenario, last_slot.unwrap_or(0))
            + of_polls(scenario, patience),
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
