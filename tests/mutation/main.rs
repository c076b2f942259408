//! The mutation run: one line of the pipeline is made worse, and the exploration must find out.
//!
//! Each mutant ([`Weakness`]) names a scenario of the catalogue, unchanged and in its default space,
//! in which every plan keeps the promise, and in which one breaks it when the line is worse. Beside
//! it: how many of 1,000 random plans of one to four faults find it. A mutant that no scenario
//! tells from the real pipeline is listed as equivalent, with the scenario it was explored in.
//!
//! ```text
//! cargo test --release --features weakened --test mutation
//! ```
//!
//! `RUNKEY_BLESS=1` writes docs/mutants.md anew.
#![allow(clippy::unwrap_used)]

mod mutants;
#[path = "../set_ups/mod.rs"]
mod set_ups;
mod table;

use evidence::Verdict;
use explore::{
    Bound, Check, Checked, Control, DEFAULT_BOUNDS, Expectation, Met, Random, Table, check,
};
use mutants::{MUTANTS, Mutant};
use scenarios::Scenario;
use scenarios::spec::Bounds;
use scheduler::weakness::Weakness;
use set_ups::{named, ready};
use sim::Setup;
use std::collections::BTreeSet;

/// How many random plans are tried on each mutant.
const RANDOM_PLANS: u64 = 1_000;
/// Each of them has one to so many faults.
const RANDOM_FAULTS: u8 = 4;

/// What a scenario expects, checked in the bounds and under the seeds of a check that says nothing
/// else.
fn checked(scenario: &Scenario, setup: &Setup) -> Checked {
    let spaces = DEFAULT_BOUNDS.map(|(space, _)| Bounds::new(scenario, space));
    let bound = |((space, up_to), choices)| Bound {
        space,
        up_to,
        choices,
    };
    let bounds: Vec<Bound<'_>> = DEFAULT_BOUNDS
        .into_iter()
        .zip(spaces.iter().map(|bounds| bounds as _))
        .map(bound)
        .collect();
    check(&Check {
        execute: setup,
        seeds: &scenario.explore.seeds.iter(),
        bounds: &bounds,
        expectation: &Expectation::of(scenario.expect.as_ref().unwrap()).unwrap(),
        all_plans: false,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control: &Control::new(),
    })
    .unwrap()
}

/// How many of the random plans break the promise.
fn by_chance(scenario: &Scenario, setup: &Setup) -> u64 {
    let spaces = DEFAULT_BOUNDS.map(|(space, _)| Bounds::new(scenario, space));
    let random = Random {
        execute: setup,
        space: &Table::of(&[&spaces[0], &spaces[1]]),
        seeds: &scenario.explore.seeds.iter(),
        faults: RANDOM_FAULTS,
        control: &Control::new(),
    };
    random.run(1..=RANDOM_PLANS).unwrap().failing
}

/// What became of a mutant.
struct Row {
    mutant: &'static Mutant,
    /// Verdict, faults, and the plan in words; `None`: every plan keeps the promise.
    found: Option<(Verdict, usize, String)>,
    /// How many of the random plans break the promise.
    by_chance: u64,
}

fn row(mutant: &'static Mutant) -> Row {
    let scenario = named(mutant.scenario);
    let setup = ready(&scenario).weakened(mutant.weakness);
    let checked = checked(&scenario, &setup);
    let exhausted = checked.explored.spaces.iter().all(|space| space.exhausted);
    assert!(
        checked.counterexample.is_some() || exhausted,
        "{}",
        mutant.weakness
    );
    let found = checked.counterexample.as_ref().map(|found| {
        let plan = set_ups::words(&scenario, &found.plan);
        (found.verdict(), found.plan.faults.len(), plan)
    });
    Row {
        mutant,
        found,
        by_chance: by_chance(&scenario, &setup),
    }
}

/// The scenarios that the mutants name, without a mutant.
fn sound() -> BTreeSet<&'static str> {
    MUTANTS.iter().map(|mutant| mutant.scenario).collect()
}

/// Whether every plan of the default bounds ran and kept the promise.
fn is_certain(checked: &Checked) -> bool {
    let mut spaces = checked.explored.spaces.iter();
    checked.met == Met::Yes
        && checked.counterexample.is_none()
        && spaces.all(|space| space.exhausted)
}

#[test]
fn without_a_mutant_every_plan_keeps_the_promise() {
    for name in sound() {
        let scenario = named(name);
        let checked = checked(&scenario, &ready(&scenario));
        assert!(is_certain(&checked), "{name}: {:?}", checked.met);
    }
}

#[test]
fn every_mutant_is_found_or_said_to_be_equivalent() {
    let rows: Vec<Row> = MUTANTS.iter().map(row).collect();
    let table = table::table(&rows);
    let wrong = |row: &&Row| row.mutant.equivalent.is_some() != row.found.is_none();
    let wrong: Vec<Weakness> = rows
        .iter()
        .filter(wrong)
        .map(|row| row.mutant.weakness)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{table}");
    insta::assert_snapshot!(table);
    table::hold_page(&rows);
}

#[test]
fn every_weakness_is_a_mutant_once_and_at_most_three_are_equivalent() {
    let named: BTreeSet<Weakness> = MUTANTS.iter().map(|mutant| mutant.weakness).collect();
    let all: BTreeSet<Weakness> = Weakness::ALL.iter().copied().collect();
    assert_eq!(named, all);
    assert_eq!(MUTANTS.len(), all.len());
    let equivalent = MUTANTS.iter().filter(|mutant| mutant.equivalent.is_some());
    let equivalent = equivalent.count();
    assert!(equivalent <= 3 && MUTANTS.len() - equivalent >= 30);
}

/// The switch itself changes nothing: with the feature and no mutant the histories are those of the
/// corpus, which was written without it.
#[test]
fn without_a_mutant_the_histories_are_those_of_the_corpus() {
    let corpus = std::fs::read_to_string("tests/corpus/tokens.txt").unwrap();
    let mut held = 0;
    for line in corpus.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(" | ").collect();
        let token: scenarios::Token = columns[0].parse().unwrap();
        let (_, scenario) = match scenarios::catalogue::find_by_hash(token.scenario_hash) {
            Some(found) => found,
            None => continue,
        };
        let outcome = sim::run(&ready(&scenario), token.seed, &token.plan);
        assert_eq!(outcome.trace_hash.to_string(), columns[1], "{line}");
        held += 1;
    }
    assert!(held > 50, "{held}");
}

/// The switch reaches the pipeline, one line and no other: two mutants differ from each other.
#[test]
fn a_mutant_is_another_pipeline() {
    let scenario = named("recommended-stack");
    let plan = scenarios::spec::Plan::empty();
    let hash = |setup: Setup| sim::run(&setup, 1, &plan).trace_hash;
    let real = hash(ready(&scenario));
    let forgotten = hash(ready(&scenario).weakened(Weakness::MarkForgotten));
    let elsewhere = hash(ready(&scenario).weakened(Weakness::LockWithoutEnd));
    assert_ne!(real, forgotten);
    assert_eq!(real, elsewhere);
}
