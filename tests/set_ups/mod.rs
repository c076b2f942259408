//! Set-ups that several tests start from, and how far they look.
#![allow(dead_code, reason = "each test uses a part of it")]

use evidence::Step;
use explore::{Bound, Check, Checked, Control, Expectation, check, perform};
use scenarios::spec::{Bounds, Fault, FaultKind, Phase, Plan, Space};
use scenarios::{Scenario, catalogue};
use sim::{Outcome, Parts, Setup};

/// A scenario of the catalogue.
pub fn named(name: &str) -> Scenario {
    catalogue::find(name).unwrap().scenario().unwrap()
}

/// The recommended stack, as the catalogue has it.
pub fn recommended() -> Scenario {
    named("recommended-stack")
}

/// A scenario made ready, with no parts of its own.
pub fn ready(scenario: &Scenario) -> Setup {
    Setup::new(scenario, Parts::default()).unwrap()
}

/// A fault at the first site after the fault before it where this step has this phase.
#[derive(Clone, Copy)]
pub struct Strike {
    /// What goes wrong.
    pub kind: FaultKind,
    /// The step.
    pub step: &'static Step,
    /// The phase.
    pub phase: Phase,
    /// How much, as in [`Fault`].
    pub magnitude_ms: i64,
}

/// A strike of a kind without magnitude.
pub const fn strike(kind: FaultKind, step: &'static Step, phase: Phase) -> Strike {
    Strike {
        kind,
        step,
        phase,
        magnitude_ms: 0,
    }
}

/// What strikes come to under a seed, and the plan that they are; `None` where one of their sites
/// is not reached.
pub fn struck(setup: &Setup, seed: u64, strikes: &[Strike]) -> Option<(Plan, Outcome)> {
    let mut plan = Plan::empty();
    let mut outcome = perform(setup, seed, &plan).unwrap();
    let mut later = 0;
    for strike in strikes {
        let meant = |reached: &sim::Reached| {
            reached.site.step == strike.step.number && reached.site.phase == strike.phase
        };
        later += outcome.sites[later..].iter().position(meant)?;
        plan.faults.push(Fault {
            site: outcome.sites[later].site,
            kind: strike.kind,
            magnitude_ms: strike.magnitude_ms,
        });
        outcome = perform(setup, seed, &plan).unwrap();
        later += 1;
    }
    Some((plan, outcome))
}

/// A plan in words, one fault after the other.
pub fn words(scenario: &Scenario, plan: &Plan) -> String {
    let cast = scenario.cast();
    let faults: Vec<String> = plan.faults.iter().map(|fault| fault.text(&cast)).collect();
    faults.join(" + ")
}

/// Explores every plan of up to `faults` faults of the space `core` under seed 1, up to the first
/// number of faults that breaks the promise.
pub fn explore_core(scenario: &Scenario, parts: Parts, faults: u8) -> Checked {
    let setup = Setup::new(scenario, parts).unwrap();
    let bounds = Bounds::new(scenario, Space::Core);
    check(&Check {
        execute: &setup,
        seeds: &(1..=1),
        bounds: &[Bound {
            space: Space::Core,
            up_to: faults,
            choices: &bounds,
        }],
        expectation: &Expectation::Holds { faults: None },
        all_plans: false,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control: &Control::new(),
    })
    .unwrap()
}

/// What an exploration found, in a line: the smallest plan that breaks the promise, or that there
/// is none, and how many there are.
pub fn found(scenario: &Scenario, checked: &Checked) -> String {
    let Some(smallest) = &checked.counterexample else {
        let exhausted = checked.explored.spaces.iter().all(|space| space.exhausted);
        assert!(exhausted, "not all plans ran");
        return format!(
            "redundant: none of {} plans breaks it",
            checked.explored.plans + checked.explored.merged
        );
    };
    let layer = smallest
        .layer()
        .map_or_else(String::new, ToString::to_string);
    let (verdict, faults) = (smallest.verdict(), smallest.plan.faults.len());
    let plural = if faults == 1 { "" } else { "s" };
    let plan = words(scenario, &smallest.plan);
    let colon = if faults == 0 { "" } else { ": " };
    format!("{verdict} ({layer}) with {faults} fault{plural}{colon}{plan}")
}
