//! What each protection of the recommended stack is there for: removed, singly and in pairs, in the
//! space `core` with up to two faults, under seed 1.
//!
//! The table is the truth as explored, not as wished: a protection is either broken without, and
//! the smallest plan is shown, or redundant beside the others, and every plan has run. For each that
//! is redundant here the catalogue has a set-up in which it alone protects.
#![allow(clippy::unwrap_used)]

mod set_ups;

use evidence::Verdict;
use scenarios::Scenario;
use scenarios::file::{InFlight, MaxDeliver};
use scenarios::spec::{FaultKind, Phase};
use scheduler::dispatch::{CatchUp, ClaimConfig, Order};
use scheduler::effects::{IdempotencyKeyConfig, ProtectionConfig, TransactionalConfig};
use scheduler::guards::{GuardConfig, StateMachineConfig};
use scheduler::work::AckWhen;
use scheduler::{IdentityKey, Span, Switchable, steps};
use set_ups::{explore_core, found, named, ready, recommended, strike, struck};
use sim::Parts;
use std::fmt::Write;

/// A protection, and how it is removed.
#[derive(Clone, Copy)]
struct Removal {
    name: &'static str,
    remove: fn(&mut Scenario),
}

const fn removal(name: &'static str, remove: fn(&mut Scenario)) -> Removal {
    Removal { name, remove }
}

const REMOVALS: [Removal; 7] = [
    removal("outbox (record, then publish)", |s| {
        s.dispatch.order = Order::AdvanceThenDispatch;
    }),
    removal("outbox (publish, then record)", |s| {
        s.dispatch.order = Order::DispatchThenAdvance;
    }),
    removal("unique run key", no_unique_run_key),
    removal("finalise check", no_finalise_check),
    removal("recovery", no_recovery),
    removal("catch-up", |s| s.dispatch.catch_up = CatchUp::None),
    removal("idempotency key", |s| {
        s.downstream.protection = ProtectionConfig::default();
    }),
];

fn no_unique_run_key(s: &mut Scenario) {
    s.dispatch.claim = ClaimConfig::None;
}

fn no_finalise_check(s: &mut Scenario) {
    guard(s).finalise_check = false;
}

fn no_recovery(s: &mut Scenario) {
    s.recovery.enabled = false;
}

fn guard(scenario: &mut Scenario) -> &mut StateMachineConfig {
    match &mut scenario.guard {
        GuardConfig::StateMachine(config) => config,
        other => panic!("the recommended stack has a state machine, not {other:?}"),
    }
}

fn transactional(s: &mut Scenario) {
    s.downstream.protection = ProtectionConfig::Transactional(TransactionalConfig {});
}

/// The recommended stack without one or two of its protections; two orders exclude each other.
fn without(one: Removal, other: Option<Removal>) -> Option<Scenario> {
    let mut scenario = recommended();
    (one.remove)(&mut scenario);
    if let Some(other) = other {
        let order = scenario.dispatch.order;
        (other.remove)(&mut scenario);
        if order != Order::Outbox && order != scenario.dispatch.order {
            return None;
        }
    }
    Some(scenario)
}

#[test]
fn every_protection_is_needed_or_redundant_as_the_table_says() {
    let mut table = String::new();
    let mut row = |removed: &str, scenario: &Scenario| {
        let checked = explore_core(scenario, Parts::default(), 2);
        writeln!(table, "{removed}\n    {}", found(scenario, &checked)).unwrap();
    };
    row("nothing", &recommended());
    for one in REMOVALS {
        row(one.name, &without(one, None).unwrap());
    }
    for (place, one) in REMOVALS.into_iter().enumerate() {
        for other in REMOVALS.into_iter().skip(place + 1) {
            if let Some(scenario) = without(one, Some(other)) {
                row(&format!("{} and {}", one.name, other.name), &scenario);
            }
        }
    }
    insta::assert_snapshot!(table);
}

/// What a prototype found, and what is true here: the set-up, then verdict and number of faults.
#[test]
fn the_smallest_plans_are_those_of_the_prototype() {
    type Row = (&'static str, fn(&mut Scenario), Verdict, usize);
    let rows: [Row; 9] = [
        (
            "downstream key = row id, no unique run key",
            |s| {
                s.identity.key = IdentityKey::Fresh;
                no_unique_run_key(s);
            },
            Verdict::Duplicate,
            0,
        ),
        (
            "transactional, no finalise check",
            |s| {
                transactional(s);
                no_finalise_check(s);
            },
            Verdict::Duplicate,
            1,
        ),
        (
            "record, then publish",
            |s| s.dispatch.order = Order::AdvanceThenDispatch,
            Verdict::Stuck,
            1,
        ),
        // The prototype: max deliver 3. Here a delivery that finds the run in other hands is put off
        // for a whole lease, so that a fault uses up one delivery less; see the test below.
        (
            "recovery off, max deliver 2, deferrals count",
            |s| {
                no_recovery(s);
                s.broker.max_deliver = MaxDeliver::Times(2);
                s.broker.deferral_counts = true;
            },
            Verdict::Stuck,
            1,
        ),
        (
            "idempotency key off",
            |s| s.downstream.protection = ProtectionConfig::default(),
            Verdict::Duplicate,
            1,
        ),
        (
            "naive in-flight check",
            |s| s.downstream.in_flight = InFlight::Naive,
            Verdict::Duplicate,
            1,
        ),
        (
            "key retention 30 s",
            |s| {
                let retention = Span::secs(30);
                s.downstream.protection =
                    ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig { retention });
            },
            Verdict::Duplicate,
            1,
        ),
        (
            "no catch-up",
            |s| s.dispatch.catch_up = CatchUp::None,
            Verdict::Lost,
            2,
        ),
        (
            "broker that forgets, no sweep of QUEUED",
            |s| {
                s.broker.loses_on_restart = true;
                guard(s).sweep_queued_after = Switchable(None);
            },
            Verdict::Stuck,
            2,
        ),
    ];
    for (name, change, verdict, faults) in rows {
        let mut scenario = recommended();
        change(&mut scenario);
        let checked = explore_core(&scenario, Parts::default(), 2);
        let smallest = checked
            .counterexample
            .unwrap_or_else(|| panic!("{name}: sound"));
        let found = (smallest.verdict(), smallest.plan.faults.len());
        assert_eq!(found, (verdict, faults), "{name}");
    }
}

/// Three deliveries are enough for two faults: the first dies, the second is put off until the lease
/// is over, the third does the work. Only where putting off counts do two faults use them up.
#[test]
fn without_recovery_three_deliveries_last_for_one_fault() {
    let mut scenario = recommended();
    no_recovery(&mut scenario);
    scenario.broker.max_deliver = MaxDeliver::Times(3);
    let checked = explore_core(&scenario, Parts::default(), 2);
    assert_eq!(checked.counterexample, None);
    scenario.broker.deferral_counts = true;
    let checked = explore_core(&scenario, Parts::default(), 2);
    let smallest = checked.counterexample.unwrap();
    assert_eq!(
        (smallest.verdict(), smallest.plan.faults.len()),
        (Verdict::Stuck, 2)
    );
    scenario.recovery.enabled = true;
    scenario.broker.deferral_counts = false;
    let checked = explore_core(&scenario, Parts::default(), 2);
    assert_eq!(checked.counterexample, None);
}

#[test]
fn three_attempts_survive_two_faults_and_are_used_up_by_three() {
    let mut scenario = recommended();
    scenario.work.retry.max_attempts = 3;
    let checked = explore_core(&scenario, Parts::default(), 2);
    assert_eq!(checked.counterexample, None);
    // Each attempt dies: before its effect, and the run is DEAD; or after it, and DEAD is a lie.
    let dies = |phase| {
        let strikes = [strike(FaultKind::Crash, &steps::DOWNSTREAM_PERFORM, phase); 3];
        let (_, outcome) = struck(&ready(&scenario), 1, &strikes).unwrap();
        outcome.judgement.verdict
    };
    assert_eq!(dies(Phase::Before), Verdict::GaveUp);
    assert_eq!(dies(Phase::Done), Verdict::Misrecorded);
}

/// The third level has 1.2 million plans.
#[test]
#[ignore = "takes a minute: cargo test --release --test protections -- --ignored"]
fn the_third_level_of_three_attempts() {
    let mut scenario = recommended();
    scenario.work.retry.max_attempts = 3;
    let checked = explore_core(&scenario, Parts::default(), 3);
    assert_eq!(
        found(&scenario, &checked),
        "gave_up (execution) with 3 faults: \
         crash@guard.enter done executor-1 report#1 n=1 + \
         crash@guard.enter done executor-1 report#1 n=2 + \
         crash@guard.enter done executor-2 report#1 n=3"
    );
    let failing: Vec<(Verdict, u64)> = checked.levels[3]
        .failing_verdicts
        .clone()
        .into_iter()
        .collect();
    assert_eq!(
        failing,
        [(Verdict::Misrecorded, 941), (Verdict::GaveUp, 143)]
    );
}

/// Each protection that the table calls redundant, where it is not: two scenarios of the catalogue
/// that differ in it alone, one sound, one broken.
#[test]
fn a_redundant_protection_has_a_set_up_in_which_it_alone_protects() {
    let pairs = [
        (
            "row-id-with-unique-run-key",
            no_unique_run_key as fn(&mut Scenario),
            "row-id-as-key",
        ),
        (
            "recommended-stack-transactional",
            no_finalise_check,
            "finalise-check-off",
        ),
        (
            "ack-first-with-recovery",
            no_recovery,
            "ack-first-no-recovery",
        ),
    ];
    for (with, remove, without) in pairs {
        let (sound, broken) = (named(with), named(without));
        let mut removed = sound.clone();
        remove(&mut removed);
        assert_eq!(
            removed.hash(),
            broken.hash(),
            "{with} and {without} differ in one protection"
        );
        let checked = explore_core(&sound, Parts::default(), 2);
        assert_eq!(checked.counterexample, None, "{with}");
        let checked = explore_core(&broken, Parts::default(), 2);
        assert!(checked.counterexample.is_some(), "{without}");
    }
}

/// Where the work is acked first, recovery is all there is.
#[test]
fn acked_first_without_recovery_one_crash_is_the_end() {
    let mut scenario = recommended();
    scenario.work.ack = AckWhen::Before;
    no_recovery(&mut scenario);
    let checked = explore_core(&scenario, Parts::default(), 2);
    let smallest = checked.counterexample.unwrap();
    assert_eq!(smallest.plan.faults.len(), 1);
    assert_eq!(smallest.verdict(), Verdict::Stuck);
}
