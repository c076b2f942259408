//! The standard scenario and the ways in which the bench executes it.
//!
//! Standard means: queued, two schedulers, two executors, one timer with two slots, and the
//! recommended stack (`recommended-stack` of the catalogue). Fault-free it makes [`CALLS`] calls.
//!
//! | way | what it is |
//! |---|---|
//! | [`Way::Sim`] | `sim::run`: the real pipeline in the simulator |
//! | [`Way::Bare`] | [`bare::floor`]: the same calls in a hand-written event loop, with the least that it takes |
//! | [`Way::General`] | [`bare::general`]: the same loop, with requests as statements, and strike points |
//! | [`Way::Network`] | [`network`]: the same calls over madsim's own network, one node a process |
//! | [`Way::ForeignTimers`] | `sim::run` with a handler that waits by madsim-tokio's timers |
//!
//! Every way records the history and judges and hashes it.

pub mod bare;
mod foreign_timers;
mod keyed;
pub mod network;
pub mod paired;
mod servers;

use evidence::{
    Cast, Ended, Event, Held, History, Holder, Judgement, Planned, Rest, TimerId, Timestamp,
    TraceHash, judge,
};
use scenarios::Scenario;
use scenarios::spec::Plan;
use scheduler::schedules::{Schedule, Timetable};
use servers::{Broker, Store};
use sim::{Parts, Setup};
use std::sync::Arc;

/// Calls of one fault-free execution: two reads of the position, four claims, two publishes, two
/// marks, four long polls (two are still open at the end), and per run one each of guard.enter,
/// perform, guard.finish and ack.
pub const CALLS: u64 = 22;

/// Messages of one fault-free execution: [`CALLS`] requests, and a reply to all but two.
pub const MESSAGES: u64 = 2 * CALLS - 2;

/// The catalogue's name of the scenario.
const NAME: &str = "recommended-stack";

/// The standard scenario, with what is the same in all its executions.
pub struct Standard {
    pub scenario: Scenario,
    pub setup: Setup,
    foreign_timers: Setup,
    no_fault: Plan,
    cast: Arc<Cast>,
    planned: Arc<[Planned]>,
    timer: TimerId,
}

/// What one execution gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Executed {
    pub history: History,
    pub judgement: Judgement,
    pub trace_hash: TraceHash,
}

/// How to execute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Bare,
    General,
    Sim,
    ForeignTimers,
    Network,
}

impl Way {
    pub const ALL: [Way; 5] = [
        Way::Bare,
        Way::General,
        Way::Sim,
        Way::ForeignTimers,
        Way::Network,
    ];

    /// Its place in [`Way::ALL`].
    pub const fn place(self) -> usize {
        self as usize
    }

    /// As the bench prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Bare => "bare",
            Way::General => "general bare",
            Way::Sim => "sim",
            Way::ForeignTimers => "sim with madsim-tokio timers",
            Way::Network => "madsim network",
        }
    }
}

impl Standard {
    pub fn new() -> Self {
        let entry = scenarios::catalogue::find(NAME).expect("the catalogue has it");
        let scenario = entry.scenario().expect("the catalogue is sound");
        let setup = |parts| Setup::new(&scenario, parts).expect("the catalogue is sound");
        let [table] = &scenario.timers[..] else {
            panic!("one timer")
        };
        let timer = TimerId::new(table.id.as_str());
        let schedule = Schedule::compile(&table.schedule, scenario.epoch).expect("a schedule");
        let timetable = Timetable::new(0, &timer, &schedule, scenario.epoch, table.slots);
        Standard {
            setup: setup(Parts::default()),
            foreign_timers: setup(foreign_timers::parts()),
            no_fault: Plan::empty(),
            cast: Arc::new(scenario.cast()),
            planned: timetable.expect("a timetable").planned().clone(),
            timer,
            scenario,
        }
    }

    /// Executes it once and gives the hash, which stands for all the rest.
    pub fn execute(&self, way: Way, seed: u64) -> TraceHash {
        match way {
            Way::Sim => sim::run(&self.setup, seed, &self.no_fault).trace_hash,
            Way::Bare => bare::floor(self, seed).trace_hash,
            Way::General => bare::general(self, seed).0.trace_hash,
            Way::Network => network::execute(self, seed).0.trace_hash,
            Way::ForeignTimers => sim::run(&self.foreign_timers, seed, &self.no_fault).trace_hash,
        }
    }

    /// The simulator's execution, whole.
    pub fn simulate(&self, seed: u64) -> sim::Outcome {
        sim::run(&self.setup, seed, &self.no_fault)
    }

    /// That all ways do the same.
    ///
    /// That the bare loops make the simulator's calls is proven by their histories, which tell
    /// every one. The other two wait elsewhere, so that their histories tell the same at other times.
    ///
    /// # Panics
    /// If one does something else.
    pub fn assert_same(&self, seed: u64) {
        let simulated = self.simulate(seed);
        let (general, sites) = bare::general(self, seed);
        for bare in [bare::floor(self, seed), general] {
            assert_eq!(bare.history, simulated.history, "seed {seed}");
            assert_eq!(bare.judgement, simulated.judgement, "seed {seed}");
            assert_eq!(bare.trace_hash, simulated.trace_hash, "seed {seed}");
        }
        assert_eq!(sites, simulated.sites, "seed {seed}");

        let (network, messages) = network::execute(self, seed);
        let foreign = sim::run(&self.foreign_timers, seed, &self.no_fault);
        assert_eq!(messages, MESSAGES, "seed {seed}");
        for (history, judgement) in [
            (&network.history, &network.judgement),
            (&foreign.history, &foreign.judgement),
        ] {
            assert_eq!(*judgement, simulated.judgement, "seed {seed}");
            assert_eq!(what(history), what(&simulated.history), "seed {seed}");
            assert_eq!(history.rest.records, simulated.history.rest.records);
        }
    }

    /// Judge and hash, as the simulator does it at the end of each execution.
    fn executed(&self, events: Vec<Event>, rest: Rest) -> Executed {
        let history = History {
            cast: self.cast.clone(),
            planned: self.planned.clone(),
            events,
            rest,
        };
        let judgement = judge(&history, &self.scenario.judge);
        let trace_hash = history.hash();
        Executed {
            history,
            judgement,
            trace_hash,
        }
    }
}

/// What happened, whoever did it and whenever.
fn what(history: &History) -> Vec<(u8, u8)> {
    let told = history.events.iter();
    let mut what: Vec<(u8, u8)> = told
        .map(|event| (event.step.number, event.what.number()))
        .collect();
    what.sort_unstable();
    what
}

/// What is left when everything has come to rest.
fn rest<C>(at: Timestamp, database: &impl Store, broker: &Broker<C>) -> Rest {
    let messages = broker.held().map(|(slot, by)| Held { slot, by });
    let rows = database.pending().map(|slot| Held {
        slot,
        by: Holder::OutboxRow,
    });
    let mut held: Vec<Held> = messages.chain(rows).collect();
    held.sort_by_key(|held| (held.slot, held.by));
    let mut records: Vec<_> = database.records().collect();
    records.sort_by_key(|record| record.slot);
    Rest {
        ended: Ended::Settled,
        at,
        held,
        records,
    }
}
