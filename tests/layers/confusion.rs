//! The layer that the identifiers tell, against the link at which effects really parted.

use crate::origin::origin;
use crate::{SMALLEST, catalogue_with_repairs, ready};
use evidence::{Attribution, History, Layer, Slot, Verdict, attribute};
use explore::{Draw, Table, random_plan};
use scenarios::Scenario;
use scenarios::spec::{Bounds, Space};
use std::collections::BTreeMap;

/// How many duplicates are drawn.
const DUPLICATES: u64 = 10_000;

/// How often which origin was given which layer: `delivery -> delivery`.
type Confusion = BTreeMap<String, u64>;

fn note(confusion: &mut Confusion, origin: Layer, told: &Attribution) {
    *confusion.entry(format!("{origin} -> {told}")).or_default() += 1;
}

/// The slots of a history that have more than one effect.
fn duplicates(outcome: &explore::Outcome) -> impl Iterator<Item = Slot> {
    let slots = outcome.judgement.slots.iter();
    let doubled = slots.filter(|slot| slot.verdict == Verdict::Duplicate);
    doubled.map(|slot| slot.slot)
}

fn told(confusion: &Confusion) -> Vec<(&str, u64)> {
    confusion
        .iter()
        .map(|(pair, count)| (pair.as_str(), *count))
        .collect()
}

#[test]
#[ignore = "explores the catalogue: .ci/run runs it in release"]
fn the_smallest_duplicates_of_the_catalogue_are_given_the_layer_they_are_of() {
    let mut confusion = Confusion::new();
    for (scenario, found) in SMALLEST.iter() {
        let outcome = sim::run(&ready(scenario), found.seed, &found.plan);
        for slot in duplicates(&outcome) {
            let layer = attribute(&outcome.history, slot, Verdict::Duplicate);
            note(
                &mut confusion,
                origin(&outcome.history, slot).unwrap(),
                &layer,
            );
        }
    }
    assert_eq!(told(&confusion), CATALOGUE);
}

#[test]
fn ten_thousand_random_duplicates_are_given_the_layer_they_are_of() {
    let mut confusion = Confusion::new();
    let mut without_trace = Confusion::new();
    let mut seen = 0;
    drawn(|outcome| {
        for slot in duplicates(outcome) {
            if seen == DUPLICATES {
                return false;
            }
            seen += 1;
            let history = &outcome.history;
            let layer = attribute(history, slot, Verdict::Duplicate);
            let origin = origin(history, slot).unwrap();
            note(&mut confusion, origin, &layer);
            let blank = attribute(&traceless(history), slot, Verdict::Duplicate);
            note(&mut without_trace, origin, &blank);
        }
        true
    });
    assert_eq!(told(&confusion), RANDOM);
    // Whoever logs no trace learns the layer of nothing but a run of another key.
    assert_eq!(told(&without_trace), TRACELESS);
}

/// Random plans of up to three faults over the catalogue and its repairs, round after round, as long
/// as more are wanted.
fn drawn(mut wanted: impl FnMut(&explore::Outcome) -> bool) {
    let scenarios: Vec<(Scenario, sim::Setup, Table)> = catalogue_with_repairs()
        .into_iter()
        .map(|scenario| {
            let setup = ready(&scenario);
            let table = Table::of(&[&Bounds::new(&scenario, Space::Full)]);
            (scenario, setup, table)
        })
        .collect();
    for round in 1.. {
        for (place, (_, setup, table)) in (0..).zip(&scenarios) {
            let mut draw = Draw::new(round << 16 | place);
            let faults = draw.below(4) as u8;
            let random = random_plan(setup, table, round, faults, &mut draw).unwrap();
            if !wanted(&random.outcome) {
                return;
            }
        }
    }
}

/// The same history, as logs tell it that carry no traceId.
fn traceless(history: &History) -> History {
    let mut history = history.clone();
    for event in &mut history.events {
        event.ids.trace = None;
    }
    history
}

/// Of the smallest plans of the catalogue; each row is an origin, and the layer that was told.
const CATALOGUE: &[(&str, u64)] = &[
    ("delivery -> delivery", 36),
    ("effect -> effect", 3),
    ("execution -> execution", 5),
    ("publishing -> publishing", 15),
    ("scheduling -> scheduling", 54),
];

/// Of ten thousand random ones.
const RANDOM: &[(&str, u64)] = &[
    ("delivery -> delivery", 3_367),
    ("effect -> effect", 151),
    ("execution -> execution", 1_165),
    ("publishing -> publishing", 1_276),
    ("scheduling -> scheduling", 4_041),
];

/// Of the same, without traceIds.
const TRACELESS: &[(&str, u64)] = &[
    ("delivery -> undecided (traceId missing)", 3_367),
    ("effect -> undecided (traceId missing)", 151),
    ("execution -> undecided (traceId missing)", 1_165),
    ("publishing -> undecided (traceId missing)", 1_276),
    ("scheduling -> scheduling", 81),
    ("scheduling -> undecided (traceId missing)", 3_960),
];
