//! The known bugs, and how each way of searching looks for one.

use crate::rank::Rank;
use runkey_explore::{Control, Expectation, ExploreError, Random, Swarm, Table, perform};
use scenarios::Scenario;
use scenarios::catalogue;
use scenarios::spec::{Bounds, Fault, Plan, Space};
use sim::{Parts, Setup};
use std::error::Error;
use std::ops::RangeInclusive;

/// After so many executions a try gives up.
pub const LIMIT: u64 = 10_000;

/// Plans by chance have from 1 to so many faults.
const FAULTS: u8 = 4;

/// So many seeds each try has, none of them twice: those that a check has by default.
const SEEDS: u64 = 16;

/// A scenario of the catalogue that breaks, made ready.
pub struct Bug {
    pub name: String,
    /// The least number of faults that show it.
    pub faults_needed: u8,
    pub setup: Setup,
    /// Every fault of the space `full`.
    pub table: Table,
    /// What shows that this bug was found: its verdict at its layer, by whichever faults.
    shows: Expectation,
    deadlines_ms: Vec<i64>,
}

impl Bug {
    /// Every scenario of the catalogue, and every repair, that says that it breaks.
    pub fn all() -> Result<Vec<Bug>, Box<dyn Error>> {
        let mut bugs = Vec::new();
        for entry in catalogue::all() {
            let mut scenario = entry.scenario()?;
            let repairs = std::mem::take(&mut scenario.repairs).into_iter();
            let repaired = repairs.map(|repair| *repair.scenario);
            for scenario in std::iter::once(scenario).chain(repaired) {
                bugs.extend(Bug::of(&scenario)?);
            }
        }
        Ok(bugs)
    }

    fn of(scenario: &Scenario) -> Result<Option<Bug>, Box<dyn Error>> {
        let expect = scenario.expect.clone().unwrap_or_default();
        let Expectation::Breaks(mut failure) = Expectation::of(&expect)? else {
            return Ok(None);
        };
        failure.by = Vec::new();
        failure.faults_needed = None;
        let bounds = Bounds::new(scenario, Space::Full);
        let deadlines = bounds.magnitudes().deadlines.iter();
        Ok(Some(Bug {
            name: scenario.name.clone(),
            faults_needed: expect.faults_needed.unwrap_or(0),
            setup: Setup::new(scenario, Parts::default())?,
            table: Table::of(&[&bounds]),
            shows: Expectation::Breaks(failure),
            deadlines_ms: deadlines.map(|deadline| deadline.span.as_i64()).collect(),
        }))
    }

    /// Runs a plan; says whether it shows the bug.
    pub fn is_shown_by(&self, seed: u64, plan: &Plan) -> Result<bool, ExploreError> {
        let outcome = perform(&self.setup, seed, plan).map_err(|source| ExploreError::Execute {
            seed,
            plan: plan.clone(),
            source,
        })?;
        Ok(self.shows.is_matched_by(plan, &outcome.judgement))
    }

    /// How many executions random plans take.
    pub fn random(&self, number: u64) -> Result<Option<u64>, ExploreError> {
        let random = Random {
            execute: &self.setup,
            space: &self.table,
            seeds: &seeds(number),
            faults: FAULTS,
            control: &Control::new(),
        };
        self.by_chance(number, |plan| random.plan(plan))
    }

    /// How many executions a swarm takes.
    pub fn swarm(&self, number: u64) -> Result<Option<u64>, ExploreError> {
        let swarm = Swarm {
            execute: &self.setup,
            space: &self.table,
            deadlines_ms: &self.deadlines_ms,
            seeds: &seeds(number),
            faults: &(1..=FAULTS),
            control: &Control::new(),
        };
        self.by_chance(number, |plan| swarm.plan(plan))
    }

    /// A plan takes one execution more than it has faults.
    fn by_chance(
        &self,
        number: u64,
        drawn: impl Fn(u64) -> Result<(u64, runkey_explore::RandomPlan), ExploreError>,
    ) -> Result<Option<u64>, ExploreError> {
        let mut executions = 0;
        for plan in number * LIMIT.. {
            let (_, found) = drawn(plan)?;
            executions += found.plan.faults.len() as u64 + 1;
            if executions > LIMIT {
                break;
            }
            if self
                .shows
                .is_matched_by(&found.plan, &found.outcome.judgement)
            {
                return Ok(Some(executions));
            }
        }
        Ok(None)
    }

    /// How many executions the exploration takes that walks all plans of no fault, then all of one,
    /// seed by seed; within a seed by rank, and what ranks alike in canonical order.
    ///
    /// Plans of two faults come after the limit.
    pub fn in_order(&self, number: u64, rank: Option<&Rank>) -> Result<Option<u64>, ExploreError> {
        let mut executions = 0;
        for seed in seeds(number) {
            executions += 1;
            if self.is_shown_by(seed, &Plan::empty())? {
                return Ok(Some(executions));
            }
        }
        for seed in seeds(number) {
            // The sites are found by executing the empty plan again.
            executions += 1;
            let mut faults = self.single_faults(seed)?;
            if let Some(rank) = rank {
                faults.sort_by_cached_key(|fault| rank.of(fault));
            }
            for fault in faults {
                executions += 1;
                if executions > LIMIT {
                    return Ok(None);
                }
                if self.is_shown_by(seed, &Plan::empty().with(fault))? {
                    return Ok(Some(executions));
                }
            }
        }
        Ok(None)
    }

    /// Every fault that applies in the execution without one, in canonical order.
    pub fn single_faults(&self, seed: u64) -> Result<Vec<Fault>, ExploreError> {
        let plan = Plan::empty();
        let root = perform(&self.setup, seed, &plan).map_err(|source| ExploreError::Execute {
            seed,
            plan,
            source,
        })?;
        let mut faults = Vec::new();
        for at in &root.sites {
            let choices = self.table.at(at).iter();
            faults.extend(choices.map(|(kind, magnitude_ms)| Fault {
                site: at.site,
                kind: *kind,
                magnitude_ms: *magnitude_ms,
            }));
        }
        Ok(faults)
    }
}

fn seeds(number: u64) -> RangeInclusive<u64> {
    number * SEEDS + 1..=(number + 1) * SEEDS
}
