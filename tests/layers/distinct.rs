//! How many different ways to fail the catalogue shows.

use crate::{SMALLEST, catalogue_with_repairs};
use scenarios::Scenario;
use scheduler::steps;
use std::collections::BTreeSet;

/// So many there are; 80 are wanted.
const DISTINCT: usize = 127;

#[test]
#[ignore = "explores the catalogue: .ci/run runs it in release"]
fn the_scenarios_that_fail_differ_in_layer_guard_or_smallest_plan() {
    let mut distinct = BTreeSet::new();
    for (scenario, found) in SMALLEST.iter() {
        let layer = found.layer().map_or_else(String::new, ToString::to_string);
        let cells: Vec<String> = found.cells().map(|cell| cell.to_string()).collect();
        distinct.insert((layer, scenario.guard.name(), cells.join(", ")));
    }
    for scenario in catalogue_with_repairs() {
        distinct.extend(stated(&scenario));
    }
    for (layer, guard, plan) in &distinct {
        println!("{layer}, {guard}, [{plan}]");
    }
    assert_eq!(distinct.len(), DISTINCT);
}

/// What a scenario says of a plan that it states, where that fails; `runkey check` holds it.
fn stated(scenario: &Scenario) -> Option<(String, &'static str, String)> {
    let expect = scenario.expect.clone().unwrap_or_default();
    if scenario.faults.is_empty() || expect.verdict.is_sound() {
        return None;
    }
    let layer = expect
        .layer
        .map_or_else(String::new, |layer| layer.to_string());
    let cells: Vec<String> = scenario
        .faults
        .iter()
        .map(|fault| {
            let spec = fault.spec(scenario).unwrap();
            let step = steps::by_number(spec.step).unwrap();
            format!("{}@{step}", spec.kind.name())
        })
        .collect();
    Some((layer, scenario.guard.name(), cells.join(", ")))
}
