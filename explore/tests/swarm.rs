//! Swarms: many faults of a few kinds, each way to fail once, and a number that names a plan for
//! ever.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use proptest::prelude::*;
use runkey_explore::toy::Courier;
use runkey_explore::{
    Choice, Choices, Control, Execute, ExecuteError, Outcome, Swarm, SwarmReport, Table, perform,
};
use scenarios::spec::{Bounds, FaultKind, Phase, Plan, Space};
use scenarios::{Token, catalogue};
use sim::{Parts, Setup};
use std::collections::BTreeSet;

const UNPROTECTED: Courier = Courier {
    keyed: false,
    tries: 20,
};
const KEYED: Courier = Courier {
    keyed: true,
    ..UNPROTECTED
};

fn report(execute: &dyn Execute, threads: usize, plans: u64) -> SwarmReport {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let swarm = Swarm {
        execute,
        space: &Table::of(&[&UNPROTECTED]),
        deadlines_ms: &[15],
        seeds: &(1..=16),
        faults: &(3..=6),
        control: &Control::new(),
    };
    let pool = pool.build().unwrap();
    pool.install(|| swarm.run(0..=plans - 1).unwrap())
}

#[test]
fn what_a_swarm_finds_is_shrunk_and_told_once_whatever_the_threads() {
    let results = [1, 2, 8].map(|threads| report(&UNPROTECTED, threads, 2000));
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    let [found, ..] = results;
    assert_eq!((found.plans, found.cut), (2000, None));
    assert!(found.failing > 100, "{}", found.failing);
    let told: Vec<String> = found
        .finds
        .iter()
        .map(|find| {
            let cells = find.plan.faults.iter().map(runkey_explore::cell_of);
            let cells: Vec<String> = cells.map(|cell| cell.to_string()).collect();
            let layer = find.judgement.layer.as_ref().unwrap();
            format!("{layer}: {}", cells.join(", "))
        })
        .collect();
    let told: BTreeSet<&str> = told.iter().map(String::as_str).collect();
    assert_eq!(
        told,
        BTreeSet::from([
            "delivery: lose_request@broker.ack",
            "execution: lose_reply@downstream.perform",
        ])
    );
    assert_eq!(found.finds.len(), told.len());
}

#[test]
fn where_nothing_breaks_nothing_is_found() {
    let found = report(&KEYED, 2, 2000);
    assert_eq!((found.plans, found.failing), (2000, 0));
    assert_eq!(found.finds, []);
}

#[test]
fn a_break_between_the_listed_magnitudes_is_found() {
    struct Listed;
    impl Choices for Listed {
        fn faults_at(&self, _: u8, phase: Phase, _: bool) -> &[Choice] {
            match phase {
                Phase::Request => &[(FaultKind::Delay, 10), (FaultKind::Delay, 20)],
                _ => &[],
            }
        }
    }
    // Late enough to be taken for lost, early enough to arrive before the repetition.
    let narrow = |seed: u64, plan: &Plan| -> Result<Outcome, ExecuteError> {
        let mut outcome = KEYED.execute(seed, &Plan::empty())?;
        outcome.took_effect = vec![true; plan.faults.len()];
        let mut delays = plan.faults.iter().map(|fault| fault.magnitude_ms);
        if delays.any(|ms| (14..=16).contains(&ms)) {
            outcome.judgement.failure = true;
            outcome.judgement.verdict = Verdict::Lost;
        }
        Ok(outcome)
    };
    let swarm = Swarm {
        execute: &narrow,
        space: &Table::of(&[&Listed]),
        deadlines_ms: &[15],
        seeds: &(1..=1),
        faults: &(2..=2),
        control: &Control::new(),
    };
    let found = swarm.run(0..=199).unwrap();
    let [find] = &found.finds[..] else {
        panic!("{:?}", found.finds);
    };
    let [fault] = find.plan.faults[..] else {
        panic!("{:?}", find.plan);
    };
    assert!((14..=16).contains(&fault.magnitude_ms));
}

#[test]
fn an_interrupt_ends_the_walk_and_shows_what_was_found() {
    let control = Control::new();
    let execute = |seed: u64, plan: &Plan| {
        if control.plans() >= 100 {
            control.stop();
        }
        UNPROTECTED.execute(seed, plan)
    };
    let swarm = Swarm {
        execute: &execute,
        space: &Table::of(&[&UNPROTECTED]),
        deadlines_ms: &[15],
        seeds: &(1..=16),
        faults: &(3..=6),
        control: &control,
    };
    let found = swarm.run(0..=u64::MAX).unwrap();
    assert!(found.cut.is_some());
    assert!((100..200).contains(&found.plans), "{}", found.plans);
    assert!(!found.finds.is_empty());
}

/// Magnitudes that are in no list travel in tokens like all others.
#[test]
fn what_is_found_in_a_scenario_replays_from_its_token() {
    let scenario = catalogue::find("finalise-check-off").unwrap();
    let scenario = scenario.scenario().unwrap();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let bounds = Bounds::new(&scenario, Space::Full);
    let deadlines = bounds.magnitudes().deadlines.iter();
    let deadlines_ms: Vec<i64> = deadlines.map(|deadline| deadline.span.as_i64()).collect();
    let swarm = Swarm {
        execute: &setup,
        space: &Table::of(&[&bounds]),
        deadlines_ms: &deadlines_ms,
        seeds: &(1..=16),
        faults: &(2..=5),
        control: &Control::new(),
    };
    let found = swarm.run(0..=299).unwrap();
    assert!(!found.finds.is_empty());
    for find in &found.finds {
        let token = Token {
            scenario_hash: scenario.hash32(),
            seed: find.seed,
            plan: find.plan.clone(),
            test: None,
        };
        let token: Token = token.encode().unwrap().parse().unwrap();
        let again = perform(&setup, token.seed, &token.plan).unwrap();
        assert_eq!(again.trace_hash, find.trace_hash);
        assert_eq!(again.judgement, find.judgement);
        // The plan as it was drawn fails alike, and has as many faults as asked for or fewer.
        let (seed, drawn) = swarm.plan(find.number).unwrap();
        assert_eq!(seed, find.seed);
        assert!(drawn.plan.faults.len() <= 5);
        let before = &drawn.outcome.judgement;
        assert_eq!(before.verdict, find.judgement.verdict);
        assert_eq!(before.layer, find.judgement.layer);
    }
}

proptest! {
    #[test]
    fn a_plan_stays_with_its_few_kinds_around_the_deadlines(number in any::<u64>()) {
        let swarm = Swarm {
            execute: &UNPROTECTED,
            space: &Table::of(&[&UNPROTECTED]),
            deadlines_ms: &[40, 4000],
            seeds: &(1..=16),
            faults: &(3..=8),
            control: &Control::new(),
        };
        let (seed, drawn) = swarm.plan(number).unwrap();
        prop_assert!((1..=16).contains(&seed));
        prop_assert!(drawn.plan.faults.len() <= 8);
        for fault in &drawn.plan.faults {
            let ms = fault.magnitude_ms;
            match fault.kind {
                FaultKind::Delay => prop_assert!(
                    (9..=71).contains(&ms) || (1953..=6047).contains(&ms), "{}", ms
                ),
                _ => prop_assert_eq!(ms, 0),
            }
        }
    }
}
