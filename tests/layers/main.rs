//! Where duplicates are born, over the whole catalogue: by the identifiers, as runkey says it, and by
//! what really gave rise to what.
#![allow(clippy::unwrap_used)]

mod confusion;
mod distinct;
mod origin;

use explore::{Bound, Check, Choices, Control, Counterexample, DEFAULT_BOUNDS, Expectation, check};
use scenarios::spec::Bounds;
use scenarios::{Scenario, catalogue};
use sim::{Parts, Setup};

/// Every scenario of the catalogue, then its repairs.
fn catalogue_with_repairs() -> Vec<Scenario> {
    let entries = catalogue::all().into_iter();
    entries
        .flat_map(|entry| {
            let mut scenario = entry.scenario().unwrap();
            let repairs = std::mem::take(&mut scenario.repairs).into_iter();
            let repaired = repairs.map(|repair| *repair.scenario);
            std::iter::once(scenario)
                .chain(repaired)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn ready(scenario: &Scenario) -> Setup {
    Setup::new(scenario, Parts::default()).unwrap()
}

/// What `runkey check` shows of a scenario; `None` where nothing breaks it or a plan is stated.
fn smallest(scenario: &Scenario) -> Option<Counterexample> {
    if !scenario.faults.is_empty() {
        return None;
    }
    let expect = scenario.expect.clone().unwrap_or_default();
    let spaces = DEFAULT_BOUNDS.map(|(space, _)| Bounds::new(scenario, space));
    let bounds: Vec<Bound<'_>> = (DEFAULT_BOUNDS.iter().zip(&spaces))
        .map(|((space, up_to), choices)| Bound {
            space: *space,
            up_to: expect
                .faults_needed
                .map_or(*up_to, |needed| needed.max(*up_to)),
            choices: choices as &dyn Choices,
        })
        .collect();
    let checked = check(&Check {
        execute: &ready(scenario),
        seeds: &scenario.explore.seeds.iter(),
        bounds: &bounds,
        expectation: &Expectation::of(&expect).unwrap(),
        all_plans: false,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control: &Control::new(),
    });
    checked.unwrap().counterexample
}
