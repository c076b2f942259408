//! Exploring the catalogue comes to every mark of the pipeline, and to every event that it can tell.
//!
//! A search that never takes over a lease says nothing about takeovers. Each row of the snapshot is a
//! moment, the smallest number of faults with which the catalogue comes to it, and the first scenario
//! that does.
#![allow(clippy::unwrap_used)]

mod set_ups;

use evidence::{Event, What};
use explore::{Bound, Check, Control, DEFAULT_BOUNDS, Expectation, Outcome, check};
use scenarios::spec::{Bounds, Plan};
use scenarios::{Scenario, catalogue};
use scheduler::marks::{self, Mark};
use set_ups::ready;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;

/// The seeds: of those of a check, the first two.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=2;

/// Whether the events of an execution tell of a moment.
type IsTold = fn(&[Event]) -> bool;

/// Moments that only a whole history tells.
const TOLD: [(&str, IsTold); 2] = [
    ("a relay reads the row of another instance", |events| {
        events.iter().any(|read| {
            let of_another = |event: &Event| {
                event.what == What::Fired
                    && event.ids.trace == read.ids.trace
                    && event.instance != read.instance
            };
            read.what == What::OutboxRead && events.iter().any(of_another)
        })
    }),
    ("a guard skips what an operator replays", |events| {
        let replay = |event: &Event| match &event.what {
            What::Fault(note) => note.name == "operator_replay",
            _ => false,
        };
        let mut after = events.iter().skip_while(|event| !replay(event));
        after.any(|event| event.what == What::SkippedDone)
    }),
];

/// The names of the moments that executions came to.
type Names = BTreeSet<&'static str>;

fn note(outcome: &Outcome, seen: &mut Names) {
    seen.extend(outcome.marks.iter().map(|mark| mark.name));
    let events = &outcome.history.events;
    seen.extend(events.iter().map(|event| event.what.name()));
    let told = TOLD.iter().filter(|(_, is_told)| is_told(events));
    seen.extend(told.map(|(name, _)| *name));
}

/// What all plans of so many faults come to, in the spaces of a check that says nothing else.
fn seen(scenario: &Scenario, faults: u8) -> Names {
    let setup = ready(scenario);
    let names = Mutex::new(Names::new());
    let execute = |seed: u64, plan: &Plan| {
        let outcome = setup.execute(seed, plan).unwrap();
        note(&outcome, &mut names.lock().unwrap());
        Ok(outcome)
    };
    let spaces = DEFAULT_BOUNDS.map(|(space, _)| Bounds::new(scenario, space));
    let bound = |((space, up_to), choices)| Bound {
        space,
        up_to: faults.min(up_to),
        choices,
    };
    let bounds: Vec<Bound<'_>> = DEFAULT_BOUNDS
        .into_iter()
        .zip(spaces.iter().map(|bounds| bounds as _))
        .map(bound)
        .collect();
    check(&Check {
        execute: &execute,
        seeds: &SEEDS,
        bounds: &bounds,
        expectation: &Expectation::Holds { faults: None },
        all_plans: true,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control: &Control::new(),
    })
    .unwrap();
    names.into_inner().unwrap()
}

/// The smallest number of faults, and the first scenario, for each moment.
fn reached(up_to: u8) -> BTreeMap<&'static str, (u8, &'static str)> {
    let mut first = BTreeMap::new();
    for faults in 0..=up_to {
        for entry in catalogue::all() {
            for name in seen(&entry.scenario().unwrap(), faults) {
                first.entry(name).or_insert((faults, entry.name));
            }
        }
    }
    first
}

/// Which of the wanted marks are not among them.
fn missing<T>(wanted: &[&'static Mark], first: &BTreeMap<&'static str, T>) -> Vec<&'static str> {
    let names = wanted.iter().map(|mark| mark.name);
    names.filter(|name| !first.contains_key(name)).collect()
}

#[test]
fn exploring_the_catalogue_comes_to_every_mark() {
    let first = reached(1);
    assert_eq!(missing(marks::ALL, &first), [""; 0], "never come to");
    let mut table = String::new();
    for (name, (faults, scenario)) in first {
        writeln!(table, "{name:<42} {faults} {scenario}").unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_mark_that_nothing_hits_is_named() {
    static NOWHERE: Mark = Mark {
        number: 63,
        name: "nowhere",
    };
    let wanted = [&marks::CLAIM_CONFLICT, &NOWHERE];
    assert_eq!(missing(&wanted, &reached(0)), ["nowhere"]);
}
