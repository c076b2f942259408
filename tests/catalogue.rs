//! The catalogue says what is true: every scenario, and every repair in it, is checked as
//! `runkey check --all` checks it.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use explore::{
    Bound, Check, Checked, Choices, Control, DEFAULT_BOUNDS, Expectation, Met, SpaceExplored, check,
};
use scenarios::catalogue::{self, Entry};
use scenarios::file::{ExpectTable, ExploreTable};
use scenarios::spec::{Bounds, Space};
use scenarios::{Scenario, Token};
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

/// The claims that have at least one scenario; the others wait for their topologies and guards.
const CLAIMS: [&str; 21] = [
    "S0.1", "S0.2", "S0.3", "S0.4", "S0.5", "S0.6", "S0.7", "S0.8", "S0.9", "S0.10", "S0.11",
    "S0.12", "S0.13", "S0.14", "S0.15", "S0.16", "S0.17", "S2.1", "S2.2", "S2.4", "S2.5",
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
fn every_scenario_is_as_it_says() {
    let mut wrong = Vec::new();
    for scenario in entries().into_iter().flat_map(|(_, s)| with_repairs(s)) {
        let setup = Setup::new(&scenario, Parts::default()).unwrap();
        let checked = checked(&scenario, &setup);
        let mut note = |what: String| wrong.push(format!("{}: {what}", scenario.name));
        if checked.met != Met::Yes {
            note(format!("{:?}", checked.met));
        }
        if !checked.also_never_seen.is_empty() {
            note(format!("never seen: {:?}", checked.also_never_seen));
        }
        match expected(&scenario) {
            expect if expect.verdict.is_sound() => {
                let exhausted = exhausted_to(&checked);
                let promised = DEFAULT_BOUNDS.map(|(space, up_to)| {
                    let up_to = expect.faults.map_or(up_to, |faults| faults.min(up_to));
                    (space, up_to)
                });
                if exhausted != promised {
                    note(format!("exhausted {exhausted:?}, not {promised:?}"));
                }
            }
            expect => note_unless_replayable(&scenario, &setup, &checked, expect, note),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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

fn exhausted_to(checked: &Checked) -> [(Space, u8); 2] {
    let spaces: Vec<&SpaceExplored> = checked.explored.spaces.iter().collect();
    let [core, full] = spaces[..] else {
        panic!("{spaces:?}");
    };
    assert!(core.exhausted && full.exhausted);
    [(core.space, core.max_faults), (full.space, full.max_faults)]
}

/// The counterexample has the faults that the file speaks of, and its token leads back to the
/// scenario and to the same history.
fn note_unless_replayable(
    scenario: &Scenario,
    setup: &Setup,
    checked: &Checked,
    expect: ExpectTable,
    mut note: impl FnMut(String),
) {
    let Some(found) = &checked.counterexample else {
        return note("no counterexample".to_owned());
    };
    let needed = expect.faults_needed.map(usize::from);
    if needed != Some(found.plan.faults.len()) {
        note(format!("{needed:?} faults needed, found {:?}", found.plan));
    }
    let word = Token {
        scenario_hash: scenario.hash32(),
        seed: found.seed,
        plan: found.plan.clone(),
        test: None,
    };
    let token: Token = word.encode().unwrap().parse().unwrap();
    let (_, named) = catalogue::find_by_hash(token.scenario_hash).unwrap();
    let again = sim::run(setup, token.seed, &token.plan);
    if named.name != scenario.name || again.trace_hash != found.trace_hash {
        note(format!("its token tells of {}", named.name));
    }
}

#[test]
fn every_scenario_says_what_it_is_about_and_hides_nothing() {
    for (entry, scenario) in entries() {
        let name = entry.name;
        assert_eq!(scenario.name, name);
        assert!(scenario.about.ends_with('.'), "{name}: {}", scenario.about);
        assert!(scenario.source.is_some(), "{name} has no source");
        assert!(scenario.expect.is_some(), "{name} expects nothing");
        assert!(scenario.faults.is_empty(), "{name} has [[fault]]");
        assert_eq!(scenario.explore, ExploreTable::default(), "{name}");
        for scenario in with_repairs(scenario) {
            assert!(scenario.faults.is_empty(), "{} has a plan", scenario.name);
        }
    }
}

#[test]
fn the_folder_is_the_layer_at_which_it_breaks() {
    for (entry, scenario) in entries() {
        let expect = expected(&scenario);
        let folder = match expect.layer {
            None if expect.verdict.is_sound() => "sound".to_owned(),
            None => panic!("{} names no layer", entry.name),
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
fn every_claim_that_can_be_told_has_a_scenario() {
    let mut told = BTreeSet::new();
    for (entry, scenario) in entries() {
        for claim in scenario.source.unwrap().split(", ") {
            let (article, row) = claim.split_once('.').unwrap();
            assert!(["S0", "S1", "S2"].contains(&article), "{}", entry.name);
            assert!(row.parse::<u8>().is_ok(), "{}: {claim}", entry.name);
            told.insert(claim.to_owned());
        }
    }
    for claim in CLAIMS {
        assert!(told.contains(claim), "{claim} has no scenario");
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
fn a_hash_names_one_scenario_or_repair() {
    let mut hashes = BTreeMap::new();
    for scenario in entries().into_iter().flat_map(|(_, s)| with_repairs(s)) {
        let other = hashes.insert(scenario.hash32(), scenario.name.clone());
        assert_eq!(other, None, "{}", scenario.name);
    }
}
