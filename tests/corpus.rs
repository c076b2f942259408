//! A corpus of executions that must never change: tokens with the hash of their history.
//!
//! `tests/corpus/tokens.txt` holds them, one a line: token, hash, scenario, plan in words. What a
//! token replays is part of what runkey promises, in debug and in release, this year and in ten. A
//! hash that changes is another pipeline, another simulator or another scenario: bump the version,
//! say so in the change log, and write the file anew with
//!
//! ```text
//! RUNKEY_BLESS=1 cargo test --test corpus
//! ```
#![allow(clippy::unwrap_used)]

mod set_ups;

use explore::{Bound, Check, Control, Draw, Expectation, Table, check, random_plan};
use scenarios::spec::{Bounds, FaultKind, Plan, Space};
use scenarios::{Scenario, Token, catalogue};
use set_ups::{ready, recommended, words};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const FILE: &str = "tests/corpus/tokens.txt";

const HEADER: &str = "# token | hash of the history | scenario | plan\n\
                      # Written by RUNKEY_BLESS=1 cargo test --test corpus; see tests/corpus.rs.\n";

/// One execution of the corpus.
struct Kept {
    token: Token,
    hash: String,
    line: usize,
}

fn kept() -> Vec<Kept> {
    let text = std::fs::read_to_string(Path::new(FILE)).unwrap();
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| !line.starts_with('#'))
        .map(|(line, text)| {
            let mut columns = text.split(" | ");
            let token = columns.next().unwrap().parse().unwrap();
            let hash = columns.next().unwrap().to_owned();
            Kept { token, hash, line }
        })
        .collect()
}

/// A random plan of the space `full`, by its number.
fn numbered(scenario: &Scenario, seed: u64, faults: u8, number: u64) -> Plan {
    let space = Table::of(&[&Bounds::new(scenario, Space::Full)]);
    let mut draw = Draw::new(number);
    random_plan(&ready(scenario), &space, seed, faults, &mut draw)
        .unwrap()
        .plan
}

/// The plan that a check of a scenario shows: the smallest that breaks it as the scenario says.
fn shown(scenario: &Scenario) -> Option<(u64, Plan)> {
    let expectation = Expectation::of(scenario.expect.as_ref()?).unwrap();
    let Expectation::Breaks(failure) = &expectation else {
        return None;
    };
    let (core, full) = (
        Bounds::new(scenario, Space::Core),
        Bounds::new(scenario, Space::Full),
    );
    let bound = |space, up_to, choices| Bound {
        space,
        up_to,
        choices,
    };
    let checked = check(&Check {
        execute: &ready(scenario),
        seeds: &(1..=2),
        bounds: &[
            bound(Space::Core, failure.faults_needed.unwrap_or(2), &core),
            bound(Space::Full, 1, &full),
        ],
        expectation: &expectation,
        all_plans: false,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control: &Control::new(),
    });
    let example = checked.unwrap().counterexample?;
    Some((example.seed, example.plan))
}

/// The kinds of faults that strike somewhere in the recommended stack: others need a server that
/// can lose something.
fn kinds_of_the_stack() -> BTreeSet<FaultKind> {
    let bounds = Bounds::new(&recommended(), Space::Full);
    bounds.cells().iter().map(|cell| cell.kind).collect()
}

/// Of every scenario the plan that its check shows, if any, and a random one, of none to three
/// faults; and a random one with every kind of fault that the recommended stack has.
fn chosen() -> Vec<(Scenario, u64, Plan)> {
    let mut chosen = Vec::new();
    for (number, entry) in (0..).zip(catalogue::all()) {
        let scenario = entry.scenario().unwrap();
        if let Some((seed, plan)) = shown(&scenario) {
            chosen.push((scenario.clone(), seed, plan));
        }
        let (seed, faults) = (1 + number % 16, (number % 4) as u8);
        let plan = numbered(&scenario, seed, faults, number);
        chosen.push((scenario, seed, plan));
    }
    for kind in kinds_of_the_stack() {
        let scenario = recommended();
        let plans = (0..).map(|number| numbered(&scenario, 1, 2, number));
        let has_kind = |plan: &Plan| plan.faults.iter().any(|fault| fault.kind == kind);
        let plan = plans.into_iter().find(has_kind).unwrap();
        chosen.push((scenario, 1, plan));
    }
    chosen
}

fn bless() {
    let mut text = HEADER.to_owned();
    for (scenario, seed, plan) in chosen() {
        let hash = sim::run(&ready(&scenario), seed, &plan).trace_hash;
        let (name, plan_in_words) = (&scenario.name, words(&scenario, &plan));
        let token = Token {
            scenario_hash: scenario.hash32(),
            seed,
            plan,
            test: None,
        };
        writeln!(text, "{token} | {hash} | {name} | {plan_in_words}").unwrap();
    }
    std::fs::create_dir_all(Path::new(FILE).parent().unwrap()).unwrap();
    std::fs::write(FILE, text).unwrap();
}

#[test]
fn every_token_of_the_corpus_replays_to_its_history() {
    if std::env::var_os("RUNKEY_BLESS").is_some_and(|bless| bless == "1") {
        bless();
    }
    let kept = kept();
    assert!(kept.len() >= 60, "{} tokens", kept.len());
    let mut changed = String::new();
    let (mut kinds, mut names) = (BTreeSet::new(), BTreeSet::new());
    for Kept { token, hash, line } in kept {
        let Some((_, scenario)) = catalogue::find_by_hash(token.scenario_hash) else {
            writeln!(
                changed,
                "line {line}: its scenario is not in the catalogue any more"
            )
            .unwrap();
            continue;
        };
        let outcome = sim::run(&ready(&scenario), token.seed, &token.plan);
        let (now, name) = (outcome.trace_hash.to_string(), &scenario.name);
        if outcome.took_effect.contains(&false) {
            writeln!(changed, "line {line}, {name}: a site is no longer reached").unwrap();
        } else if now != hash {
            writeln!(changed, "line {line}, {name}: {hash} became {now}").unwrap();
        }
        kinds.extend(token.plan.faults.iter().map(|fault| fault.kind));
        names.insert(scenario.name);
    }
    assert_eq!(changed, "", "see the head of tests/corpus.rs");
    assert!(kinds.is_superset(&kinds_of_the_stack()), "{kinds:?}");
    assert_eq!(kinds_of_the_stack().len(), 14);
    assert!(names.len() >= 24);
}
