//! What a certificate gives as the reason that a step was never come to: "no such step here". The
//! whole catalogue holds that this is never said of a step that executions do come to.

#![allow(clippy::unwrap_used)]

use explore::{Bound, Check, Control, Expectation, Walking, check};
use scenarios::spec::{Bounds, Space, why_absent};
use scenarios::{Scenario, catalogue};
use scheduler::steps;

/// The scenarios of the catalogue, and their repairs, that do not state a plan.
fn explored() -> Vec<Scenario> {
    let mut all = Vec::new();
    for entry in catalogue::all() {
        let mut scenario = entry.scenario().unwrap();
        let repairs = std::mem::take(&mut scenario.repairs);
        all.push(scenario);
        all.extend(repairs.into_iter().map(|repair| *repair.scenario));
    }
    all
}

#[test]
fn no_step_that_is_reached_is_called_absent() {
    for mut scenario in explored() {
        scenario.faults.clear();
        let setup = sim::Setup::new(&scenario, sim::Parts::default()).unwrap();
        let full = Bounds::new(&scenario, Space::Full);
        let checked = check(&Check {
            execute: &setup,
            seeds: &(1..=1),
            bounds: &[Bound {
                space: Space::Full,
                // Those whose executions take long say so.
                up_to: scenario.explore.faults.map_or(1, |faults| faults.min(1)),
                choices: &full,
            }],
            expectation: &Expectation::Holds { faults: None },
            all_plans: true,
            show_next_up_to: 0,
            walking: Walking::default(),
            control: &Control::new(),
        })
        .unwrap();
        for step in steps::ALL {
            let reached = checked
                .levels
                .iter()
                .any(|level| level.places.has_step(step.number));
            if let (true, Some(why)) = (reached, why_absent(step.number, &scenario)) {
                panic!(
                    "{}: {step} is reached, and is said to be absent: {why}",
                    scenario.name
                );
            }
        }
    }
}
