//! The tree of plans: exact numbers, canonical order, threads, cuts.
#![allow(clippy::unwrap_used)]

use evidence::{Judgement, Verdict};
use proptest::prelude::*;
use runkey_explore::toy::Courier;
use runkey_explore::{
    Choices, Control, Coverage, Cut, Execute, ExecuteError, ExploreError, Level, Outcome, Question,
    Table, Tree, Wanted, perform,
};
use scenarios::spec::{Cell, Fault, FaultKind, Phase, Plan};

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const UNPROTECTED: Courier = Courier {
    keyed: false,
    tries: 20,
};

fn level(
    execute: &dyn Execute,
    space: &Table,
    seeds: RangeInclusive<u64>,
    faults: u8,
) -> Result<Level, ExploreError> {
    looking_for(execute, space, seeds, faults, &|_, judgement| {
        judgement.verdict == Verdict::Duplicate
    })
}

fn looking_for(
    execute: &dyn Execute,
    space: &Table,
    seeds: RangeInclusive<u64>,
    faults: u8,
    wanted: Wanted<'_>,
) -> Result<Level, ExploreError> {
    Tree {
        execute,
        seeds: &seeds,
        control: &Control::new(),
    }
    .level(&Question {
        next_space: Some(space),
        ..Question::every_plan(faults, space, wanted)
    })
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(run)
}

/// Every plan of so many faults, by the definition, in canonical order; slow, and holds them all.
fn by_definition(
    execute: &dyn Execute,
    space: &Table,
    seed: u64,
    faults: usize,
) -> Vec<(Plan, Outcome)> {
    let empty = Plan::empty();
    let outcome = perform(execute, seed, &empty).unwrap();
    let mut plans = vec![(empty, outcome)];
    for _ in 0..faults {
        let mut longer = Vec::new();
        for (plan, outcome) in &plans {
            let later = plan.faults.last().map_or(0, |last| {
                let mut sites = outcome.sites.iter();
                sites.position(|at| at.site == last.site).unwrap() + 1
            });
            for at in &outcome.sites[later..] {
                for (kind, magnitude_ms) in space.at(at) {
                    let plan = plan.with(Fault {
                        site: at.site,
                        kind: *kind,
                        magnitude_ms: *magnitude_ms,
                    });
                    let outcome = perform(execute, seed, &plan).unwrap();
                    longer.push((plan, outcome));
                }
            }
        }
        plans = longer;
    }
    plans
}

#[test]
fn a_level_has_exactly_the_plans_that_counting_by_hand_gives() {
    // A try offers lose, 2 delays, lose, lose, lose; all but the delays and the last start a new
    // try, and after a delay the same try goes on: 1, 6, 6 x 4, 6 x 4 x 4 ...
    let space = Table::of(&[&UNPROTECTED]);
    for (faults, plans) in [(0, 1), (1, 6), (2, 24), (3, 96), (4, 384), (5, 1536)] {
        let level = level(&UNPROTECTED, &space, 7..=7, faults).unwrap();
        assert_eq!(level.plans, plans, "{faults} faults");
        assert!(level.is_exhausted());
        let next = if faults == 0 { 6 } else { plans * 4 };
        assert_eq!(level.next_plans, next, "after {faults} faults");
    }
}

#[test]
fn a_level_runs_exactly_the_plans_of_the_definition_each_once() {
    let space = Table::of(&[&UNPROTECTED]);
    for faults in 0..4u8 {
        let ran = Mutex::new(Vec::new());
        let recording = |seed: u64, plan: &Plan| {
            if plan.faults.len() == usize::from(faults) {
                ran.lock().unwrap().push(plan.clone());
            }
            UNPROTECTED.execute(seed, plan)
        };
        let level = level(&recording, &space, 1..=1, faults).unwrap();
        let mut ran = ran.into_inner().unwrap();
        assert_eq!(ran.len() as u64, level.plans + level.repeated);
        ran.sort();
        ran.dedup();
        let expected = by_definition(&UNPROTECTED, &space, 1, faults.into());
        let expected: BTreeSet<Plan> = expected.into_iter().map(|(plan, _)| plan).collect();
        assert!(ran.iter().eq(&expected));
    }
}

#[test]
fn the_first_failing_plan_is_the_canonically_first() {
    let space = Table::of(&[&UNPROTECTED]);
    for faults in 1..4u8 {
        let level = level(&UNPROTECTED, &space, 3..=5, faults).unwrap();
        let (plan, _) = by_definition(&UNPROTECTED, &space, 3, faults.into())
            .into_iter()
            .find(|(_, outcome)| outcome.judgement.failure)
            .unwrap();
        let first = level.first_failing.unwrap();
        assert_eq!((first.seed, first.plan), (3, plan));
    }
}

#[test]
fn of_two_seeds_that_fail_alike_the_lower_is_shown_and_an_earlier_site_goes_before_a_lower_seed() {
    let space = Table::of(&[&UNPROTECTED]);
    // Seed 1 fails at its last site only, seed 2 at its first.
    let execute = |seed: u64, plan: &Plan| {
        let mut outcome = UNPROTECTED.execute(seed, plan)?;
        let fails = plan.faults.first().is_some_and(|fault| match seed {
            1 => fault.site.step == 22 && fault.site.phase == Phase::Done,
            _ => fault.site.step == 20 && fault.site.phase == Phase::Request,
        });
        outcome.judgement.failure = fails;
        outcome.judgement.verdict = Verdict::Lost;
        Ok(outcome)
    };
    let first = |seeds| {
        level(&execute, &space, seeds, 1)
            .unwrap()
            .first_failing
            .unwrap()
    };
    assert_eq!(first(1..=1).seed, 1);
    assert_eq!(first(1..=2).seed, 2);
    assert_eq!(first(2..=9).seed, 2);
}

#[test]
fn what_a_level_says_does_not_depend_on_the_number_of_threads() {
    let space = Table::of(&[&UNPROTECTED]);
    let results: Vec<Level> = [1, 2, 8]
        .map(|threads| on_threads(threads, || level(&UNPROTECTED, &space, 1..=5, 4).unwrap()))
        .into();
    assert_eq!(results[0].plans, 5 * 384);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn more_seeds_than_are_held_at_once_give_the_sum_of_their_parts() {
    let space = Table::of(&[&UNPROTECTED]);
    let all = level(&UNPROTECTED, &space, 1..=600, 1).unwrap();
    let low = level(&UNPROTECTED, &space, 1..=300, 1).unwrap();
    let high = level(&UNPROTECTED, &space, 301..=600, 1).unwrap();
    assert_eq!(all.plans, 600 * 6);
    assert_eq!(all.digest.0, low.digest.0.wrapping_add(high.digest.0));
    assert_eq!(all.first_failing, low.first_failing);
}

#[test]
fn symptoms_and_coverage_count_what_happened() {
    let space = Table::of(&[&UNPROTECTED]);
    let level = level(&UNPROTECTED, &space, 1..=2, 1).unwrap();
    assert_eq!((level.failing, level.matching), (4, 4));
    assert_eq!(level.failing_verdicts, [(Verdict::Duplicate, 4)].into());
    let verdicts = [(Verdict::Duplicate, 4), (Verdict::ExactlyOnce, 8)];
    assert_eq!(level.verdicts, verdicts.into());
    let symptoms: Vec<String> = level
        .symptoms
        .iter()
        .map(|(symptom, seen)| {
            format!(
                "{} {} {} by {}: {}",
                symptom.verdict,
                symptom.layer.unwrap(),
                symptom.effects,
                symptom.by[0],
                seen.count
            )
        })
        .collect();
    assert_eq!(
        symptoms,
        [
            "duplicate delivery 2 by lose_request@broker.ack: 2",
            "duplicate execution 2 by lose_reply@downstream.perform: 2",
        ]
    );
    let cells: Vec<String> = cells(&level.coverage);
    assert_eq!(
        cells,
        [
            "lose_request@downstream.perform 2",
            "lose_reply@downstream.perform 2",
            "delay@downstream.perform 4",
            "lose_request@broker.ack 2",
            "lose_reply@broker.ack 2",
        ]
    );
}

#[test]
fn cells_that_no_plan_reached_are_told() {
    let space = Table::of(&[&UNPROTECTED]);
    let level = level(&UNPROTECTED, &space, 1..=1, 1).unwrap();
    let cell = |step, kind| Cell { step, kind };
    let asked = [
        cell(20, FaultKind::LoseReply),
        cell(20, FaultKind::Crash),
        cell(200, FaultKind::LoseReply),
    ];
    assert_eq!(level.coverage.never_reached(&asked), asked[1..]);
}

fn cells(coverage: &Coverage) -> Vec<String> {
    coverage
        .cells()
        .iter()
        .map(|(cell, count)| format!("{cell} {count}"))
        .collect()
}

#[test]
fn the_next_level_is_counted_in_its_own_space() {
    struct OnlyLosses;
    impl Choices for OnlyLosses {
        fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[(FaultKind, i64)] {
            // The courier's first choice is a loss everywhere; delays come after it.
            let all = UNPROTECTED.faults_at(step, phase, replayable);
            &all[..all.len().min(1)]
        }
    }
    let wide = Table::of(&[&UNPROTECTED]);
    let narrow = Table::of(&[&OnlyLosses]);
    let tree = Tree {
        execute: &UNPROTECTED,
        seeds: &(1..=1),
        control: &Control::new(),
    };
    let first = tree
        .level(&Question {
            next_space: Some(&narrow),
            ..Question::every_plan(1, &wide, &|_, _| false)
        })
        .unwrap();
    let second = level(&UNPROTECTED, &narrow, 1..=1, 2).unwrap();
    assert_eq!((first.plans, first.next_plans, second.plans), (6, 12, 12));
}

#[test]
fn a_fault_without_effect_is_an_error_that_names_it() {
    let space = Table::of(&[&UNPROTECTED]);
    let deaf = |seed: u64, plan: &Plan| {
        let mut outcome = UNPROTECTED.execute(seed, plan)?;
        for (fault, took_effect) in plan.faults.iter().zip(&mut outcome.took_effect) {
            *took_effect &= fault.site.n != 2;
        }
        Ok(outcome)
    };
    assert!(level(&deaf, &space, 1..=4, 1).is_ok());
    for threads in [1, 2, 8] {
        let error = on_threads(threads, || level(&deaf, &space, 1..=4, 2)).unwrap_err();
        assert!(error.is_irreproducible());
        let ExploreError::Execute { seed, plan, source } = error else {
            panic!("{error}");
        };
        assert_eq!(seed, 1);
        assert_eq!(plan.faults.len(), 2);
        assert_eq!(
            source.to_string(),
            "fault 2 of the plan (lose_request@downstream.perform) did not take effect"
        );
    }
}

#[test]
fn a_fault_whose_site_is_not_reached_is_an_error_that_says_so() {
    let outcome = perform(&UNPROTECTED, 1, &Plan::empty()).unwrap();
    let mut site = outcome.sites[0].site;
    site.n = 5;
    let plan = Plan::empty().with(Fault {
        site,
        kind: FaultKind::LoseRequest,
        magnitude_ms: 0,
    });
    let error = perform(&UNPROTECTED, 1, &plan).unwrap_err();
    assert!(
        matches!(error, ExecuteError::SiteNotReached { number: 1, .. }),
        "{error}"
    );
}

#[test]
fn an_execution_that_does_not_repeat_is_caught_and_its_plan_named() {
    let space = Table::of(&[&UNPROTECTED]);
    let calls = AtomicU64::new(0);
    let flaky = |seed: u64, plan: &Plan| {
        let mut outcome = UNPROTECTED.execute(seed, plan)?;
        outcome.trace_hash.0 ^= calls.fetch_add(1, Ordering::Relaxed);
        Ok(outcome)
    };
    for faults in 0..3 {
        let error = level(&flaky, &space, 1..=1, faults).unwrap_err();
        assert!(error.is_irreproducible());
        let ExploreError::NotRepeatable {
            plan, first, again, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(plan.faults.len(), usize::from(faults));
        assert_ne!(first, again);
    }
}

#[test]
fn what_an_execution_leaves_behind_on_its_thread_is_caught() {
    let space = Table::of(&[&UNPROTECTED]);
    thread_local! {
        static LEFT_BEHIND: AtomicU64 = const { AtomicU64::new(0) };
    }
    let leaky = |seed: u64, plan: &Plan| {
        let mut outcome = UNPROTECTED.execute(seed, plan)?;
        outcome.trace_hash.0 ^= LEFT_BEHIND.with(|left| left.swap(1, Ordering::Relaxed));
        Ok(outcome)
    };
    let error = on_threads(1, || level(&leaky, &space, 1..=1, 3)).unwrap_err();
    assert!(
        matches!(error, ExploreError::NotRepeatable { .. }),
        "{error}"
    );
}

#[test]
fn of_each_batch_one_plan_at_least_is_executed_twice_and_one_in_256_besides() {
    let space = Table::of(&[&UNPROTECTED]);
    let level = |seeds, faults| level(&UNPROTECTED, &space, seeds, faults).unwrap();
    // One batch for each plan with a fault less.
    assert_eq!(level(1..=1, 0).repeated, 1);
    assert_eq!(level(1..=16, 0).repeated, 16);
    assert_eq!(level(1..=1, 1).repeated, 1);
    let batches = level(1..=1, 2).plans;
    let third = level(1..=1, 3);
    assert!((batches / 2..=batches + third.plans / 64).contains(&third.repeated));
}

#[test]
fn an_interrupted_level_is_not_exhausted() {
    let space = Table::of(&[&UNPROTECTED]);
    let control = Control::new();
    let execute = |seed: u64, plan: &Plan| {
        if plan.faults.len() == 3 && control.plans() >= 40 {
            control.stop();
        }
        UNPROTECTED.execute(seed, plan)
    };
    let level = Tree {
        execute: &execute,
        seeds: &(1..=1),
        control: &control,
    }
    .level(&Question {
        next_space: None,
        ..Question::every_plan(3, &space, &|_, _| false)
    })
    .unwrap();
    assert_eq!(level.cut, Some(Cut::Interrupted));
    assert!(!level.is_exhausted());
    assert!((41..96).contains(&level.plans), "{}", level.plans);
}

#[test]
fn a_time_budget_of_nothing_runs_nothing_and_says_so() {
    let level = Tree {
        execute: &UNPROTECTED,
        seeds: &(1..=3),
        control: &Control::for_at_most(std::time::Duration::ZERO),
    }
    .level(&Question {
        next_space: None,
        ..Question::every_plan(0, &Table::of(&[&UNPROTECTED]), &|_, _| true)
    })
    .unwrap();
    assert_eq!((level.plans, level.cut), (0, Some(Cut::OutOfTime)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_failure_pattern_gives_the_canonically_first_and_the_right_counts_on_any_threads(
        pattern in any::<u64>(),
        modulus in 1u64..40,
        faults in 0u8..4,
        threads in 1usize..5,
    ) {
        let space = Table::of(&[&UNPROTECTED]);
        let fails = |judgement: &mut Judgement, trace: u64| {
            judgement.failure = (trace ^ pattern).is_multiple_of(modulus);
            judgement.verdict =
                if judgement.failure { Verdict::Stuck } else { Verdict::ExactlyOnce };
        };
        let execute = |seed: u64, plan: &Plan| {
            let mut outcome = UNPROTECTED.execute(seed, plan)?;
            fails(&mut outcome.judgement, outcome.trace_hash.0);
            Ok(outcome)
        };
        let all = by_definition(&execute, &space, 9, faults.into());
        let failing: Vec<&Plan> = all
            .iter()
            .filter(|(_, outcome)| outcome.judgement.failure)
            .map(|(plan, _)| plan)
            .collect();
        let level = on_threads(threads, || level(&execute, &space, 9..=9, faults)).unwrap();
        prop_assert_eq!(level.plans, all.len() as u64);
        prop_assert_eq!(level.failing, failing.len() as u64);
        let first = level.first_failing.as_ref().map(|first| &first.plan);
        prop_assert_eq!(first, failing.first().copied());
        let counted: u64 = level.symptoms.iter().map(|(_, seen)| seen.count).sum();
        prop_assert_eq!(counted, level.failing);
    }
}
