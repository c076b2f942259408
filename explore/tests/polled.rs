//! Claims by the timer's row, and workers that poll: the broken set-up is found, the sound one holds.
#![allow(clippy::unwrap_used)]

use evidence::{Attribution, Layer, Verdict};
use runkey_explore::{
    Bound, Check, Checked, Control, Expectation, Failure, Met, Walking, check, find_plan,
};
use scenarios::Scenario;
use scenarios::spec::{Bounds, Space};
use sim::{Parts, Setup, run};

const KEY: &str = "[downstream]\nprotection = { kind = 'idempotency_key' }\n";
const RUNS: &str = "[topology]\nkind = 'polled'\nrows = 'runs'\n";
const TIMERS: &str = "[topology]\nkind = 'polled'\n";

fn scenario(adds: &str) -> Scenario {
    let text = format!("[[timer]]\nid = 'report'\nslots = 1\n{adds}");
    Scenario::parse(&text, "case.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Whether every plan of the space core with so many faults keeps the promise.
fn checked(adds: &str, faults: u8, expectation: &Expectation) -> Checked {
    let scenario = scenario(adds);
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    check(&Check {
        execute: &setup,
        seeds: &(1..=1),
        bounds: &[Bound {
            space: Space::Core,
            up_to: faults,
            choices: &Bounds::new(&scenario, Space::Core),
        }],
        expectation,
        all_plans: false,
        show_next_up_to: 0,
        walking: Walking::default(),
        control: &Control::new(),
    })
    .unwrap()
}

fn holds_to_two(adds: &str) {
    let expectation = Expectation::Holds { faults: Some(2) };
    let checked = checked(adds, 2, &expectation);
    assert_eq!(
        checked.met,
        Met::Yes,
        "{adds}: {:?}",
        checked.counterexample
    );
}

fn breaks(adds: &str, verdict: Verdict, by: &str) {
    let scenario = scenario(adds);
    let cells = Bounds::new(&scenario, Space::Core);
    let cells = cells.cells().iter().copied();
    let by = cells.filter(|cell| cell.to_string() == by).collect();
    let expectation = Expectation::Breaks(Failure {
        verdict,
        layer: None,
        effects: None,
        by,
        faults_needed: Some(1),
        also: vec![Verdict::Unfinished, Verdict::Lost, Verdict::Stuck],
    });
    let checked = checked(adds, 1, &expectation);
    assert_eq!(checked.met, Met::Yes, "{adds}");
}

/// Verdict and layer of the slot under the faults that are written in a case.
fn play(adds: &str) -> (Verdict, Option<Attribution>) {
    let scenario = scenario(adds);
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let faults = scenario.faults.iter();
    let faults: Vec<_> = faults.map(|fault| fault.spec(&scenario).unwrap()).collect();
    let plan = find_plan(&setup, 1, &faults).unwrap();
    let outcome = run(&setup, 1, &plan);
    let slot = &outcome.judgement.slots[0];
    (slot.verdict, outcome.judgement.layer.clone())
}

#[test]
fn a_position_that_moves_before_the_publish_takes_the_run_along_and_an_outbox_keeps_it() {
    for claim in [
        "kind = 'compare_version'",
        "kind = 'compare_state', compare = 'state_and_slot'",
        "kind = 'select_for_update'",
    ] {
        let order =
            |order: &str| format!("{KEY}[dispatch]\nclaim = {{ {claim} }}\norder = '{order}'\n");
        let moved_first = order("advance_then_dispatch");
        breaks(&moved_first, Verdict::Lost, "crash@broker.publish");
        holds_to_two(&order("outbox"));
    }
}

#[test]
fn a_queue_of_rows_with_claims_that_end_holds_and_one_without_leaves_runs_behind() {
    holds_to_two(&format!("{RUNS}{KEY}"));
    let forever = format!("{RUNS}{KEY}[broker]\nack_deadline = 'off'\n");
    breaks(&forever, Verdict::Stuck, "crash@downstream.perform");
}

#[test]
fn a_trigger_that_stays_acquired_until_the_work_is_done_is_recovered() {
    let claim = "claim = { kind = 'compare_state', compare = 'state_and_slot' }";
    let order = |order: &str| format!("{TIMERS}{KEY}[dispatch]\n{claim}\norder = '{order}'\n");
    breaks(
        &order("advance_then_dispatch"),
        Verdict::Lost,
        "crash@downstream.perform",
    );
    holds_to_two(&order("dispatch_then_advance"));
}

#[test]
fn a_second_claim_of_a_row_is_a_delivery_and_of_a_timer_a_firing() {
    let late = "[[instance]]\nname = 'worker-2'\nstarts_at = '2h 2s'\n";
    let crash = "[[fault]]\nat = { instance = 'worker-1', step = 'worker.done', \
                 run = 'report#1' }\ndo = 'crash'\n";
    let twice = play(&format!("{RUNS}{late}{crash}"));
    assert_eq!(
        twice,
        (
            Verdict::Duplicate,
            Some(Attribution::Layer(Layer::Delivery))
        )
    );
    let claim = "[dispatch]\nclaim = { kind = 'compare_state' }\n\
                 order = 'dispatch_then_advance'\n";
    let crash = "[[fault]]\nat = { instance = 'worker-1', step = 'dispatch.advance', \
                 run = 'report#1' }\ndo = 'crash'\n";
    let twice = play(&format!("{TIMERS}{claim}{late}{crash}"));
    assert_eq!(
        twice,
        (
            Verdict::Duplicate,
            Some(Attribution::Layer(Layer::Scheduling))
        )
    );
}
