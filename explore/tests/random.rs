//! Random plans: they all fit, and a number names one for ever.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use proptest::prelude::*;
use runkey_explore::toy::Courier;
use runkey_explore::{Control, Draw, Execute, Random, RandomReport, Table, random_plan};
use scenarios::spec::{FaultKind, Plan};

const UNPROTECTED: Courier = Courier {
    keyed: false,
    tries: 20,
};

fn report(execute: &dyn Execute, threads: usize, plans: u64) -> RandomReport {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let random = Random {
        execute,
        space: &Table::of(&[&UNPROTECTED]),
        seeds: &(1..=16),
        faults: 3,
        control: &Control::new(),
    };
    pool.install(|| random.run(0..=plans - 1).unwrap())
}

#[test]
fn draws_never_change_because_plans_must_replay_for_years() {
    let mut draw = Draw::new(42);
    let drawn: Vec<u64> = (0..4).map(|_| draw.below(1000)).collect();
    assert_eq!(drawn, [271, 889, 674, 753]);
}

#[test]
fn what_random_plans_give_does_not_depend_on_threads() {
    let results = [1, 2, 8].map(|threads| report(&UNPROTECTED, threads, 10_000));
    assert_eq!(results[0].plans, 10_000);
    assert!(results[0].failing > 1000);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    let (number, first) = results[0].first_failing.clone().unwrap();
    assert_eq!(first.verdict(), Verdict::Duplicate);
    let random = Random {
        execute: &UNPROTECTED,
        space: &Table::of(&[&UNPROTECTED]),
        seeds: &(1..=16),
        faults: 3,
        control: &Control::new(),
    };
    let (seed, plan) = random.plan(number).unwrap();
    assert_eq!((seed, plan.plan), (first.seed, first.plan));
}

#[test]
fn an_interrupt_ends_the_walk() {
    let control = Control::new();
    let execute = |seed: u64, plan: &Plan| {
        if control.plans() >= 100 {
            control.stop();
        }
        UNPROTECTED.execute(seed, plan)
    };
    let random = Random {
        execute: &execute,
        space: &Table::of(&[&UNPROTECTED]),
        seeds: &(1..=16),
        faults: 3,
        control: &control,
    };
    let report = random.run(0..=u64::MAX).unwrap();
    assert!(report.cut.is_some());
    assert!((100..200).contains(&report.plans), "{}", report.plans);
}

#[test]
fn every_kind_and_every_depth_is_drawn() {
    let space = Table::of(&[&UNPROTECTED]);
    let (mut delays, mut depths) = (0, [0; 4]);
    for key in 0..500 {
        let random = random_plan(&UNPROTECTED, &space, 1, 3, &mut Draw::new(key)).unwrap();
        depths[random.plan.faults.len()] += 1;
        let faults = &random.plan.faults;
        delays += faults
            .iter()
            .filter(|fault| fault.kind == FaultKind::Delay)
            .count();
    }
    // Only a fault at the very last site leaves no room for another.
    assert!(
        depths[3] > 200 && depths[1] > 50 && depths[0] == 0,
        "{depths:?}"
    );
    assert!(delays > 100);
}

proptest! {
    #[test]
    fn a_random_plan_takes_effect_fault_by_fault(key in any::<u64>(), faults in 0u8..6) {
        let space = Table::of(&[&UNPROTECTED]);
        let random = random_plan(&UNPROTECTED, &space, 1, faults, &mut Draw::new(key)).unwrap();
        prop_assert!(random.plan.faults.len() <= usize::from(faults));
        prop_assert!(random.outcome.took_effect.iter().all(|took| *took));
        let places: Vec<usize> = random
            .plan
            .faults
            .iter()
            .map(|fault| {
                let mut sites = random.outcome.sites.iter();
                sites.position(|at| at.site == fault.site).unwrap()
            })
            .collect();
        prop_assert!(places.is_sorted_by(|a, b| a < b), "{:?}", places);
    }

    #[test]
    fn a_draw_stays_below_its_bound(key in any::<u64>(), count in 1u64..1000) {
        let mut draw = Draw::new(key);
        for _ in 0..20 {
            prop_assert!(draw.below(count) < count);
        }
        prop_assert_eq!(draw.below(0), 0);
    }
}
