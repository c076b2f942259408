//! Shrinking: the known optimum, and nothing left to spare.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use proptest::prelude::*;
use runkey_explore::toy::Courier;
use runkey_explore::{
    BY_STRENGTH, Choice, Choices, Draw, Execute, ExecuteError, ExploreError, Outcome, Table,
    cell_of, perform, random_plan, shrink,
};
use scenarios::spec::{Fault, FaultKind, Phase, Plan};

const UNPROTECTED: Courier = Courier {
    keyed: false,
    tries: 20,
};

/// A plan of the faults at these places of the execution so far, by number of the choice there.
fn plan_of(execute: &dyn Execute, choices: &dyn Choices, faults: &[(usize, usize)]) -> Plan {
    let mut plan = Plan::empty();
    for (place, number) in faults {
        let outcome = perform(execute, 1, &plan).unwrap();
        let at = outcome.sites[*place];
        let (kind, magnitude_ms) =
            choices.faults_at(at.site.step, at.site.phase, at.replayable)[*number];
        plan.faults.push(Fault {
            site: at.site,
            kind,
            magnitude_ms,
        });
    }
    plan
}

fn cells(plan: &Plan) -> Vec<String> {
    let cells = plan.faults.iter().map(cell_of);
    cells.map(|cell| cell.to_string()).collect()
}

#[test]
fn faults_that_do_not_matter_are_dropped_and_the_one_that_does_moves_to_the_first_try() {
    // Two delays, a lost perform before any effect, and then the lost ack that does it.
    let noisy = plan_of(
        &UNPROTECTED,
        &UNPROTECTED,
        &[(0, 0), (1, 1), (3, 0), (4, 2)],
    );
    let before = perform(&UNPROTECTED, 1, &noisy).unwrap();
    assert_eq!(before.judgement.verdict, Verdict::Duplicate);
    let shrunk = shrink(&UNPROTECTED, &UNPROTECTED, 1, &noisy).unwrap();
    assert_eq!(cells(&shrunk.plan), ["lose_request@broker.ack"]);
    assert_eq!(shrunk.plan.faults[0].site.n, 1);
    assert_eq!(shrunk.outcome.judgement.layer, before.judgement.layer);
}

/// Fails where both of two replies are lost, or where one ack is.
fn two_or_one(seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
    let mut outcome = UNPROTECTED.execute(seed, plan)?;
    let count = |cell: &str| cells(plan).iter().filter(|known| *known == cell).count();
    let fails = count("lose_reply@downstream.perform") == 2 || count("lose_reply@broker.ack") == 1;
    outcome.judgement.failure = fails;
    outcome.judgement.layer = None;
    outcome.judgement.verdict = match fails {
        true => Verdict::Lost,
        false => Verdict::ExactlyOnce,
    };
    Ok(outcome)
}

#[test]
fn two_faults_that_only_do_it_together_are_replaced_by_one_that_does_it_alone() {
    let both = plan_of(&two_or_one, &UNPROTECTED, &[(1, 0), (3, 0)]);
    assert_eq!(cells(&both), ["lose_reply@downstream.perform"; 2]);
    let shrunk = shrink(&two_or_one, &UNPROTECTED, 1, &both).unwrap();
    assert_eq!(cells(&shrunk.plan), ["lose_reply@broker.ack"]);
}

#[test]
fn a_magnitude_shrinks_to_the_smallest_that_does_it_and_a_kind_to_the_weakest() {
    struct Pauses;
    impl Choices for Pauses {
        fn faults_at(&self, _: u8, phase: Phase, _: bool) -> &[Choice] {
            const ALL: &[Choice] = &[
                (FaultKind::LoseRequest, 0),
                (FaultKind::Crash, 0),
                (FaultKind::Pause, 10),
                (FaultKind::Pause, 20),
                (FaultKind::Pause, 30),
                (FaultKind::ClockStep, -50),
                (FaultKind::ClockStep, 50),
            ];
            match phase {
                Phase::Request => ALL,
                _ => &[],
            }
        }
    }
    // Fails from a pause of 20 on and with any crash; no smaller thing does it.
    let late = |seed: u64, plan: &Plan| {
        let harmless = Plan::empty();
        let mut outcome: Outcome = UNPROTECTED.execute(seed, &harmless)?;
        outcome.took_effect = vec![true; plan.faults.len()];
        outcome.judgement.failure = plan.faults.iter().any(|fault| match fault.kind {
            FaultKind::Pause => fault.magnitude_ms >= 20,
            FaultKind::Crash => true,
            _ => false,
        });
        if outcome.judgement.failure {
            outcome.judgement.verdict = Verdict::Duplicate;
        }
        Ok(outcome)
    };
    let from_crash = plan_of(&late, &Pauses, &[(0, 6), (2, 1)]);
    let shrunk = shrink(&late, &Pauses, 1, &from_crash).unwrap();
    assert_eq!(shrunk.plan.faults.len(), 1);
    let fault = shrunk.plan.faults[0];
    assert_eq!((fault.kind, fault.magnitude_ms), (FaultKind::Pause, 20));
    let from_long_pause = plan_of(&late, &Pauses, &[(0, 4)]);
    let shrunk = shrink(&late, &Pauses, 1, &from_long_pause).unwrap();
    assert_eq!(shrunk.plan.faults[0].magnitude_ms, 20);
}

#[test]
fn a_plan_that_does_not_run_is_not_shrunk() {
    let mut plan = plan_of(&UNPROTECTED, &UNPROTECTED, &[(0, 0)]);
    plan.faults[0].site.n = 9;
    let error = shrink(&UNPROTECTED, &UNPROTECTED, 1, &plan).unwrap_err();
    assert!(matches!(error, ExploreError::Execute { .. }));
    assert!(error.is_irreproducible());
}

#[test]
fn the_order_of_strength_names_every_kind_once() {
    let mut kinds = BY_STRENGTH;
    kinds.sort_unstable();
    assert_eq!(kinds, FaultKind::ALL);
}

proptest! {
    #[test]
    fn from_what_is_left_nothing_can_be_dropped_or_weakened(key in any::<u64>()) {
        let space = Table::of(&[&UNPROTECTED]);
        let random = random_plan(&UNPROTECTED, &space, 1, 5, &mut Draw::new(key)).unwrap();
        prop_assume!(random.outcome.judgement.failure);
        let shrunk = shrink(&UNPROTECTED, &space, 1, &random.plan).unwrap();
        let same = |plan: &Plan| {
            perform(&UNPROTECTED, 1, plan).is_ok_and(|outcome| {
                outcome.judgement.verdict == random.outcome.judgement.verdict
                    && outcome.judgement.layer == random.outcome.judgement.layer
            })
        };
        prop_assert!(same(&shrunk.plan));
        for place in 0..shrunk.plan.faults.len() {
            let mut shorter = shrunk.plan.clone();
            let dropped = shorter.faults.remove(place);
            prop_assert!(!same(&shorter));
            // No fault left is a delay: it never changes anything, so it would have been dropped.
            prop_assert_ne!(dropped.kind, FaultKind::Delay);
        }
        let again = shrink(&UNPROTECTED, &space, 1, &random.plan).unwrap();
        prop_assert_eq!(shrunk, again);
    }
}
