//! How many different ways to fail the catalogue shows.

use crate::SMALLEST;
use std::collections::BTreeSet;

/// So many there are; 80 are wanted.
const DISTINCT: usize = 33;

#[test]
#[ignore = "explores the catalogue: .ci/run runs it in release"]
fn the_scenarios_that_fail_differ_in_layer_guard_or_smallest_plan() {
    let mut distinct = BTreeSet::new();
    for (scenario, found) in SMALLEST.iter() {
        let layer = found.layer().map_or_else(String::new, ToString::to_string);
        let cells: Vec<String> = found.cells().map(|cell| cell.to_string()).collect();
        distinct.insert((layer, scenario.guard.name(), cells.join(", ")));
    }
    for (layer, guard, plan) in &distinct {
        println!("{layer}, {guard}, [{plan}]");
    }
    assert_eq!(distinct.len(), DISTINCT);
}
