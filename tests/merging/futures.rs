//! Executions that rest in equal states have equal futures, whatever faults they had.

use crate::set_ups::ready;
use crate::small;
use explore::perform;
use scenarios::Scenario;
use scenarios::spec::{Bounds, Fault, Phase, Plan, RunRef, Space};
use sim::{Outcome, Setup, State};
use std::collections::BTreeMap;

/// What is reached from a rest on. How often a step of no run was reached before is a label, not
/// part of what happens.
type Future = Vec<(u8, u8, RunRef, u16, Phase, bool)>;

fn future(outcome: &Outcome, from: u32) -> Future {
    outcome.sites[from as usize..]
        .iter()
        .map(|reached| {
            let site = reached.site;
            let n = match site.run {
                RunRef::None => 0,
                RunRef::Slot(_) => site.n,
            };
            (
                site.instance.0,
                site.step,
                site.run,
                n,
                site.phase,
                reached.replayable,
            )
        })
        .collect()
}

/// Every plan of one fault of the space `full`.
fn single_faults(scenario: &Scenario, setup: &Setup, seed: u64) -> Vec<Plan> {
    let space = Bounds::new(scenario, Space::Full);
    let root = perform(setup, seed, &Plan::empty()).unwrap();
    let faults = root.sites.iter().flat_map(|at| {
        let choices = space.faults_at(at.site.step, at.site.phase, at.replayable);
        choices.iter().map(|(kind, magnitude_ms)| Fault {
            site: at.site,
            kind: *kind,
            magnitude_ms: *magnitude_ms,
        })
    });
    let single = faults.map(|fault| Plan {
        faults: vec![fault],
    });
    std::iter::once(Plan::empty()).chain(single).collect()
}

#[test]
fn executions_that_rest_in_equal_states_have_equal_futures() {
    let mut met_again = 0;
    for (scenario, _) in small::all() {
        let setup = ready(&scenario);
        for seed in [1, 2] {
            let mut futures: BTreeMap<State, (Plan, Future, Vec<_>)> = BTreeMap::new();
            for plan in single_faults(&scenario, &setup, seed) {
                let outcome = sim::run_until(&setup, seed, &plan, &|_| false);
                for rest in &outcome.rest_points {
                    let here = future(&outcome, rest.sites);
                    let slots: Vec<_> = outcome
                        .judgement
                        .slots
                        .iter()
                        .map(|slot| (slot.verdict, slot.effects))
                        .collect();
                    match futures.get(&rest.state) {
                        None => {
                            futures.insert(rest.state, (plan.clone(), here, slots));
                        }
                        Some((other, theirs, judged)) => {
                            let name = &scenario.name;
                            assert_eq!(theirs, &here, "{name}: {other:?} and {plan:?}");
                            assert_eq!(judged, &slots, "{name}: {other:?} and {plan:?}");
                            met_again += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(met_again > 1_000, "{met_again}");
}
