//! Merging at rest points is held against the walk that runs every plan to its end: the same
//! verdicts, the same smallest plans, and run and merged plans that add up to all of them.
//!
//! And against its reason: executions that rest in equal states have equal futures.
#![allow(clippy::unwrap_used)]

#[path = "../set_ups/mod.rs"]
mod set_ups;

mod futures;
mod guards;
mod small;

use explore::{Bound, Check, Checked, Control, Expectation, Walking, check};
use scenarios::Scenario;
use scenarios::spec::{Bounds, Space};
use set_ups::{ready, words};
use std::fmt::Write;

/// Explores `core` to this many faults under seed 1, with or without merging.
fn walked(scenario: &Scenario, faults: u8, merge: bool) -> Checked {
    let setup = ready(scenario);
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
        walking: Walking {
            merge,
            ..Walking::default()
        },
        control: &Control::new(),
    })
    .unwrap()
}

/// What a scenario comes to, in a line, with how many plans were run and merged to find it out.
fn line(scenario: &Scenario, checked: &Checked) -> String {
    let found = match &checked.counterexample {
        Some(example) => format!(
            "{} with {}",
            example.verdict(),
            words(scenario, &example.plan)
        ),
        None => "holds".to_owned(),
    };
    let explored = &checked.explored;
    let why = explored
        .unmerged_because
        .map_or(String::new(), |why| format!(" ({why})"));
    format!(
        "{} run, {} merged{why}: {found}",
        explored.plans, explored.merged
    )
}

#[test]
fn merged_and_unmerged_walks_find_the_same_and_count_the_same_plans() {
    let mut table = String::new();
    for (scenario, faults) in small::all() {
        let merged = walked(&scenario, faults, true);
        let every = walked(&scenario, faults, false);
        let name = &scenario.name;
        assert_eq!(merged.met, every.met, "{name}");
        assert_eq!(merged.counterexample, every.counterexample, "{name}");
        assert_eq!(every.explored.merged, 0);
        let (with, without) = (&merged.explored, &every.explored);
        assert_eq!(with.plans + with.merged, without.plans, "{name}");
        assert_eq!(merged.levels.len(), every.levels.len(), "{name}");
        for (one, other) in merged.levels.iter().zip(&every.levels) {
            assert_eq!(one.plans + one.merged, other.plans, "{name}");
            assert_eq!(one.failing, other.failing, "{name}");
            assert_eq!(one.symptoms, other.symptoms, "{name}");
            let verdicts = |level: &explore::Level| level.verdicts.keys().copied().collect();
            let (ones, others): (Vec<_>, Vec<_>) = (verdicts(one), verdicts(other));
            assert_eq!(ones, others, "{name}");
            assert_eq!(one.places, other.places, "{name}");
        }
        writeln!(
            table,
            "{name}, {faults} faults: {}",
            line(&scenario, &merged)
        )
        .unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_merged_walk_is_the_same_on_any_number_of_threads() {
    let scenario = set_ups::recommended();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| walked(&scenario, 2, true))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn plans_grow_linearly_with_slots() {
    let mut scenario = set_ups::recommended();
    let plans: Vec<u64> = [1, 2, 3, 4, 5]
        .into_iter()
        .map(|slots| {
            scenario.timers[0].slots = slots;
            walked(&scenario, 2, true).explored.plans
        })
        .collect();
    insta::assert_debug_snapshot!(plans);
    let more: Vec<u64> = plans.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!((more[1], more[2]), (more[2], more[3]), "{more:?}");
}
