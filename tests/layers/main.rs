//! Where duplicates are born, over the whole catalogue: by the identifiers, as runkey says it, and by
//! what really gave rise to what.
#![allow(clippy::unwrap_used)]

mod confusion;
mod distinct;
mod origin;

use explore::{Bound, Check, Choices, Control, Counterexample, Expectation, check};
use scenarios::spec::{Bounds, Space};
use scenarios::{Scenario, catalogue};
use sim::{Parts, Setup};
use std::sync::LazyLock;

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

/// What is shown of every scenario and repair of the catalogue that is expected to fail: the smallest
/// plan that breaks it.
static SMALLEST: LazyLock<Vec<(Scenario, Counterexample)>> = LazyLock::new(|| {
    let scenarios = catalogue_with_repairs().into_iter();
    scenarios
        .filter_map(|scenario| {
            let found = smallest(&scenario)?;
            Some((scenario, found))
        })
        .collect()
});

/// What `runkey check` shows; `None` where nothing breaks it or a plan is stated.
fn smallest(scenario: &Scenario) -> Option<Counterexample> {
    let expect = scenario.expect.clone().unwrap_or_default();
    if expect.verdict.is_sound() || !scenario.faults.is_empty() {
        return None;
    }
    // No further than to the failure that it speaks of.
    let needed = |up_to: u8| {
        expect
            .faults_needed
            .map_or(up_to, |needed| needed.min(up_to))
    };
    let deepest = expect.faults_needed.unwrap_or(2);
    let spaces = [(Space::Core, deepest), (Space::Full, needed(1))];
    let choices = spaces.map(|(space, _)| Bounds::new(scenario, space));
    let bounds: Vec<Bound<'_>> = (spaces.iter().zip(&choices))
        .map(|((space, up_to), choices)| Bound {
            space: *space,
            up_to: *up_to,
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
