//! A scenario made ready: executed many times by the explorer, or once to be told.

use super::bounds::{self, Depth};
use super::failure::Failure;
use super::select::Subject;
use explore::certificate::{Certificate, Claim};
use explore::{
    Bound, Check, Checked, Choices, Control, ExecuteError, Expectation, ExploreError,
    SHOWN_AT_MOST, Walking, perform,
};
use runkey::report::Execution;
use scenarios::file::Seeds;
use scenarios::spec::{Bounds, FaultSpec, Plan};
use scenarios::{Scenario, Token};
use sim::Outcome;
use std::ops::RangeInclusive;

/// A scenario made ready.
pub struct Simulation {
    setup: sim::Setup,
    scenario: Scenario,
}

/// How far a check goes, beyond what the scenario says.
pub struct Reach<'a> {
    /// The seeds.
    pub seeds: Seeds,
    /// The spaces, each to its number of faults.
    pub depths: &'a [Depth],
    /// Go on after the first level with a failure.
    pub all_plans: bool,
    /// How the levels are walked.
    pub walking: Walking<'a>,
    /// Progress and early end.
    pub control: &'a Control,
}

impl Simulation {
    /// Makes a scenario ready.
    pub fn of(subject: &Subject) -> Result<Self, Failure> {
        let scenario = subject.scenario.clone();
        let setup = sim::Setup::new(&scenario, sim::Parts::default()).map_err(|error| {
            Failure::Execute {
                name: scenario.name.clone(),
                source: ExecuteError::SetUp(error.to_string()),
            }
        })?;
        Ok(Simulation { setup, scenario })
    }

    /// What is executed.
    pub const fn setup(&self) -> &sim::Setup {
        &self.setup
    }

    /// What is simulated.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Every plan up to a bound.
    pub fn check(&self, reach: &Reach<'_>) -> Result<Checked, Failure> {
        let spaces: Vec<Bounds> = reach
            .depths
            .iter()
            .map(|(space, _)| Bounds::new(&self.scenario, *space))
            .collect();
        let bounds: Vec<Bound<'_>> = reach
            .depths
            .iter()
            .zip(&spaces)
            .map(|((space, up_to), choices)| Bound {
                space: *space,
                up_to: *up_to,
                choices: choices as &dyn Choices,
            })
            .collect();
        let expectation = self.expectation()?;
        let mut checked = explore::check(&Check {
            execute: &self.setup,
            seeds: &reach.seeds.iter(),
            bounds: &bounds,
            expectation: &expectation,
            all_plans: reach.all_plans,
            // What comes after is for the merge to show.
            show_next_up_to: match reach.walking.share {
                None => SHOWN_AT_MOST,
                Some(_) => 0,
            },
            walking: reach.walking,
            control: reach.control,
        })
        .map_err(|source| self.failure(source))?;
        checked.unless_explored_less(&expectation, |missing| {
            bounds::narrower(&self.scenario, reach.depths, reach.seeds, missing)
        });
        Ok(checked)
    }

    /// Certifies what a check has proved: runs the sample.
    pub fn certify(&self, claim: Claim) -> Result<Certificate, Failure> {
        Certificate::of(claim, &self.scenario, &self.setup).map_err(|source| self.failure(source))
    }

    /// What executes its plans.
    pub const fn executes(&self) -> &sim::Setup {
        &self.setup
    }

    /// The empty plan and the one that the scenario states.
    pub fn check_plan(
        &self,
        seeds: &RangeInclusive<u64>,
        control: &Control,
    ) -> Result<Checked, Failure> {
        let faults = self.stated_faults()?;
        explore::check_plan(
            &self.setup,
            seeds,
            &|seed| explore::find_plan(&self.setup, seed, &faults),
            &self.expectation()?,
            control,
        )
        .map_err(|source| self.failure(source))
    }

    /// The plan that the scenario states, under this seed; the empty one where it states none.
    pub fn stated_plan(&self, seed: u64) -> Result<Plan, Failure> {
        let faults = self.stated_faults()?;
        explore::find_plan(&self.setup, seed, &faults).map_err(|source| self.failure(source))
    }

    /// Executes a plan in order to tell it.
    pub fn tell(&self, seed: u64, plan: Plan) -> Result<Told, Failure> {
        let outcome =
            perform(&self.setup.telling(), seed, &plan).map_err(|source| Failure::Execute {
                name: self.scenario.name.clone(),
                source,
            })?;
        let token = Token {
            scenario_hash: self.scenario.hash32(),
            seed,
            plan: plan.clone(),
            test: None,
        };
        Ok(Told {
            seed,
            plan,
            // Only a plan with more faults than a token holds has none.
            token: token.encode().ok(),
            outcome,
        })
    }

    fn stated_faults(&self) -> Result<Vec<FaultSpec>, Failure> {
        let faults = self.scenario.faults.iter();
        let specs = faults.map(|fault| fault.spec(&self.scenario));
        specs.collect::<Result<_, _>>().map_err(|wrong| {
            let name = &self.scenario.name;
            Failure::Usage(format!(
                "{name}: [[fault]] {}: {}",
                wrong.key, wrong.message
            ))
        })
    }

    fn expectation(&self) -> Result<Expectation, Failure> {
        let expect = self.scenario.expect.clone().unwrap_or_default();
        let name = &self.scenario.name;
        Expectation::of(&expect).map_err(|message| Failure::Usage(format!("{name}: {message}")))
    }

    /// What a person is told of an exploration that could not be done.
    pub fn failure(&self, source: ExploreError) -> Failure {
        Failure::Explore {
            name: self.scenario.name.clone(),
            source,
        }
    }
}

/// An execution that was done in order to be told.
pub struct Told {
    seed: u64,
    plan: Plan,
    token: Option<String>,
    outcome: Outcome,
}

impl Told {
    /// The same without a token: its scenario is in no file.
    pub fn without_token(mut self) -> Self {
        self.token = None;
        self
    }

    /// With all that is needed to tell it.
    pub fn execution<'a>(&'a self, subject: &'a Subject) -> Execution<'a> {
        Execution {
            scenario: &subject.scenario,
            seed: self.seed,
            plan: &self.plan,
            token: self.token.as_deref(),
            path: subject.file.as_deref(),
            history: &self.outcome.history,
            judgement: &self.outcome.judgement,
            trace_hash: self.outcome.trace_hash,
        }
    }
}
