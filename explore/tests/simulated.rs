//! The real simulator, explored: a short check of a set-up with no protection at all.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use runkey_explore::{
    Bound, Check, Checked, Control, Expectation, Failure, Met, Random, Table, check,
};
use scenarios::Scenario;
use scenarios::spec::{Bounds, Space};
use sim::{Parts, Setup};

fn unprotected() -> Scenario {
    let text = "[[timer]]\nid = 'report'\nschedule = { cron = '0 0 2 * * *' }\nslots = 1\n";
    Scenario::parse(text, "unprotected.toml").unwrap()
}

fn checked(threads: usize) -> Checked {
    let scenario = unprotected();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        check(&Check {
            execute: &setup,
            seeds: &(1..=2),
            bounds: &[Bound {
                space: Space::Core,
                up_to: 1,
                choices: &Bounds::new(&scenario, Space::Core),
            }],
            expectation: &Expectation::Breaks(Failure {
                verdict: Verdict::Duplicate,
                layer: None,
                effects: Some(2),
                by: Vec::new(),
                faults_needed: Some(1),
                also: vec![Verdict::Lost, Verdict::Stuck],
            }),
            all_plans: false,
            show_next_up_to: 0,
            walking: runkey_explore::Walking::default(),
            control: &Control::new(),
        })
        .unwrap()
    })
}

#[test]
fn without_any_protection_one_fault_makes_a_job_run_twice_on_any_number_of_threads() {
    let one = checked(1);
    assert_eq!(one.met, Met::Yes);
    let shown = one.counterexample.clone().unwrap();
    assert_eq!(shown.plan.faults.len(), 1);
    assert_eq!(shown.verdict(), Verdict::Duplicate);
    assert!(one.explored.spaces[0].exhausted);
    assert_eq!(one, checked(2));
}

#[test]
fn random_plans_of_the_simulator_take_effect() {
    let scenario = unprotected();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let report = Random {
        execute: &setup,
        space: &Table::of(&[&Bounds::new(&scenario, Space::Full)]),
        seeds: &(1..=16),
        faults: 3,
        control: &Control::new(),
    }
    .run(0..=499)
    .unwrap();
    assert_eq!(report.plans, 500);
}
