//! The catalogue says what is true: every scenario, and every repair in it, is checked as
//! `runkey check --all` checks it.
#![allow(clippy::unwrap_used)]

use assert_cmd::Command;
use evidence::Verdict;
use explore::{Bound, Check, Checked, Choices, Control, DEFAULT_BOUNDS, Expectation, Met, check};
use scenarios::catalogue::{self, Entry};
use scenarios::file::ExpectTable;
use scenarios::spec::Bounds;
use scenarios::{Scenario, Token};
use serde_json::Value;
use sim::{Parts, Setup};
use std::collections::{BTreeMap, BTreeSet};

/// What the articles tell, each under a name of its own.
const TOLD: [&str; 22] = [
    "advance-then-crash",
    "broker-disconnect",
    "check-then-insert-race",
    "crash-after-call-before-record",
    "crash-before-ack",
    "dispatch-then-crash",
    "failed-record-never-retried",
    "idempotency-key-downstream",
    "insert-first-then-crash",
    "lock-released-then-redelivered",
    "lock-ttl-shorter-than-work",
    "lost-publish-confirm",
    "new-id-per-publish",
    "no-protection-downstream",
    "operator-replay",
    "recommended-stack",
    "recommended-stack-transactional",
    "replicas-fire-independently",
    "timeout-is-not-failure",
    "timer-id-as-key",
    "two-schedulers-no-claim",
    "work-longer-than-visibility",
];

/// Those of them in which nothing breaks.
const SOUND: [&str; 3] = [
    "idempotency-key-downstream",
    "recommended-stack",
    "recommended-stack-transactional",
];

/// Every entry with its scenario.
fn entries() -> Vec<(Entry, Scenario)> {
    let entries = catalogue::all().into_iter();
    entries
        .map(|entry| (entry, entry.scenario().unwrap()))
        .collect()
}

/// A scenario, then its repairs, each a scenario of its own.
fn with_repairs(mut scenario: Scenario) -> Vec<Scenario> {
    let repairs = std::mem::take(&mut scenario.repairs).into_iter();
    let repaired = repairs.map(|repair| *repair.scenario);
    std::iter::once(scenario).chain(repaired).collect()
}

fn expected(scenario: &Scenario) -> ExpectTable {
    scenario.expect.clone().unwrap_or_default()
}

#[test]
fn every_scenario_is_as_it_says() {
    let mut check = Command::cargo_bin("runkey").unwrap();
    check.args(["check", "--all", "--survivors", "off", "--no-timing"]);
    let output = check.args(["--format", "jsonl"]).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    let results = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Value> = results
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let scenarios: BTreeMap<String, Scenario> = entries()
        .into_iter()
        .flat_map(|(_, scenario)| with_repairs(scenario))
        .map(|scenario| (scenario.name.clone(), scenario))
        .collect();
    assert_eq!(results.len(), scenarios.len());
    let wrong: Vec<String> = results
        .iter()
        .filter_map(|result| {
            let name = result["scenario"].as_str().unwrap();
            let why = what_is_wrong(&scenarios[name], result)?;
            Some(format!("{name}: {why}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Nothing that `also` allows is left over, and no two deadlines tie.
    assert_eq!(notes, "");
    assert_eq!(output.status.code(), Some(0));
}

/// What a result says that it should not, if it does: the expectation is met; what holds was
/// exhausted; a counterexample has as many faults as the file speaks of, and its token leads to the
/// same set-up and to the same history.
fn what_is_wrong(scenario: &Scenario, result: &Value) -> Option<String> {
    if result["met"] != true {
        return Some(format!("not met: {}", result["reason"]));
    }
    let expect = expected(scenario);
    let planned = scenario.faults.len();
    if expect.verdict.is_sound() {
        let exhausted = result["explored"]["exhausted"] == true || planned > 0;
        return (!exhausted).then(|| "not exhausted".to_owned());
    }
    let found = &result["counterexample"];
    let needed = expect.faults_needed.map_or(planned, usize::from);
    if found["faults"] != needed {
        return Some(format!("{needed} faults needed, found {}", found["plan"]));
    }
    let token: Token = found["token"].as_str()?.parse().unwrap();
    let (_, named) = catalogue::find_by_hash(token.scenario_hash).unwrap();
    let setup = Setup::new(&named, Parts::default()).unwrap();
    let again = sim::run(&setup, token.seed, &token.plan);
    let same =
        named.hash() == scenario.hash() && found["trace_hash"] == again.trace_hash.to_string();
    (!same).then(|| format!("its token tells of {}", named.name))
}

/// As the command line does it: the default bounds, seeds 1 to 16, the simulator.
fn checked(scenario: &Scenario, setup: &Setup) -> Checked {
    let spaces = DEFAULT_BOUNDS.map(|(space, _)| Bounds::new(scenario, space));
    let mut bounds = Vec::new();
    for ((space, up_to), choices) in DEFAULT_BOUNDS.into_iter().zip(&spaces) {
        bounds.push(Bound {
            space,
            up_to,
            choices: choices as &dyn Choices,
        });
    }
    check(&Check {
        execute: setup,
        seeds: &scenario.explore.seeds.iter(),
        bounds: &bounds,
        expectation: &Expectation::of(&expected(scenario)).unwrap(),
        all_plans: false,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control: &Control::new(),
    })
    .unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

#[test]
fn a_scenario_that_says_something_else_is_found_out() {
    let entry = catalogue::find("timer-id-as-key").unwrap();
    for (said, instead) in [
        ("verdict = \"lost\"", "verdict = \"duplicate\""),
        ("layer = \"execution\"", "layer = \"effect\""),
        ("faults_needed = 0", "faults_needed = 1"),
    ] {
        assert!(entry.text.contains(said));
        let text = entry.text.replacen(said, instead, 1);
        let scenario = Scenario::parse(&text, entry.path).unwrap();
        let setup = Setup::new(&scenario, Parts::default()).unwrap();
        let met = checked(&scenario, &setup).met;
        assert!(matches!(met, Met::No(_)), "{instead}: {met:?}");
    }
}

#[test]
fn every_scenario_says_what_it_is_about_and_hides_nothing() {
    for (entry, scenario) in entries() {
        let name = entry.name;
        assert_eq!(scenario.name, name);
        let about = scenario.about.trim_end();
        assert!(about.ends_with('.'), "{name}: {about}");
        assert!(scenario.source.is_some(), "{name} has no source");
        assert!(scenario.expect.is_some(), "{name} expects nothing");
    }
}

#[test]
fn the_folder_is_the_layer_at_which_it_breaks() {
    for (entry, scenario) in entries() {
        let expect = expected(&scenario);
        let folder = match expect.layer {
            None if expect.verdict.is_sound() => "sound".to_owned(),
            // Which it is differs from seed to seed.
            None => {
                assert_ne!(entry.layer, "sound", "{}", entry.name);
                continue;
            }
            Some(layer) => layer.to_string(),
        };
        assert_eq!(entry.layer, folder, "{}", entry.name);
    }
}

#[test]
fn every_story_of_the_articles_has_its_scenario() {
    let names: Vec<&str> = catalogue::all().iter().map(|entry| entry.name).collect();
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), unique.len());
    for told in TOLD {
        assert!(unique.contains(told), "{told} is missing");
    }
    for (entry, scenario) in entries() {
        if TOLD.contains(&entry.name) {
            let sound = expected(&scenario).verdict.is_sound();
            assert_eq!(sound, SOUND.contains(&entry.name), "{}", entry.name);
        }
    }
}

#[test]
fn every_verdict_of_a_promise_broken_by_a_pipeline_is_shown() {
    let shown: BTreeSet<String> = entries()
        .iter()
        .map(|(_, scenario)| expected(scenario).verdict.to_string())
        .collect();
    for verdict in [
        Verdict::Duplicate,
        Verdict::Lost,
        Verdict::Stuck,
        Verdict::GaveUp,
        Verdict::Unfinished,
        Verdict::ExactlyOnce,
    ] {
        assert!(shown.contains(verdict.name()), "{verdict} is shown nowhere");
    }
}

#[test]
fn a_hash_names_one_set_up() {
    let mut hashes = BTreeMap::new();
    for scenario in entries().into_iter().flat_map(|(_, s)| with_repairs(s)) {
        // Two ways may lead to the same repair.
        let other = hashes.insert(scenario.hash32(), scenario.hash());
        assert!(
            other.is_none_or(|other| other == scenario.hash()),
            "{}",
            scenario.name
        );
    }
    let mut broken = BTreeSet::new();
    for (entry, scenario) in entries() {
        assert!(
            broken.insert(scenario.hash()),
            "{} is told twice",
            entry.name
        );
    }
}
