//! Dropping one fault from a plan leaves everything as it was that does not follow from it: plans can
//! be shrunk, and two executions compared, fault by fault.
//!
//! What follows from a fault cannot be read off a history, so that two cases are held in which it is
//! plain: whatever came before the fault, and whatever happens in instances that the fault's instance
//! has no way to reach. There every event is the same and happens at the same millisecond: no latency
//! was reshuffled.
#![allow(clippy::unwrap_used)]

mod set_ups;

use evidence::{Event, History, InstanceId, What};
use explore::{Draw, Table, random_plan};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scenarios::spec::{Bounds, FaultKind, Plan, Space};
use scenarios::{Scenario, catalogue};
use set_ups::{ready, words};
use sim::{Outcome, Setup};

/// The same cases every time.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

/// A random plan of one to four faults of the space `full`, and what it gives.
fn random(scenario: &Scenario, setup: &Setup, seed: u64, number: u64) -> (Plan, Outcome) {
    let space = Table::of(&[&Bounds::new(scenario, Space::Full)]);
    let mut draw = Draw::new(number);
    let faults = 1 + draw.below(4) as u8;
    let found = random_plan(setup, &space, seed, faults, &mut draw).unwrap();
    (found.plan, found.outcome)
}

/// The plan without one of its faults.
fn without(plan: &Plan, place: usize) -> Plan {
    let mut fewer = plan.clone();
    fewer.faults.remove(place);
    fewer
}

/// The place of each fault's event; a plan has its faults in the order in which they strike.
fn strikes(history: &History) -> Vec<usize> {
    let events = history.events.iter().enumerate();
    let faults = events.filter(|(_, event)| matches!(event.what, What::Fault(_)));
    faults.map(|(place, _)| place).collect()
}

/// What happened in some instances. Servers number messages and effects in the order in which they
/// come, whoever sends them: those numbers are not the instances' own.
fn events_in(history: &History, instances: &[InstanceId]) -> Vec<Event> {
    let own = |event: &&Event| instances.contains(&event.instance);
    let anonymous = |event: &Event| {
        let mut event = event.clone();
        event.ids.message = None;
        if let What::Effect { number } = &mut event.what {
            *number = 0;
        }
        event
    };
    history.events.iter().filter(own).map(anonymous).collect()
}

/// Drops each fault at one of `at` from the plan and says where `elsewhere` something changed.
fn changed_elsewhere(
    scenario: &Scenario,
    seed: u64,
    number: u64,
    at: &[InstanceId],
    elsewhere: &[InstanceId],
) -> Option<String> {
    let setup = ready(scenario);
    let (plan, with) = random(scenario, &setup, seed, number);
    // A broker that restarts is away for everybody.
    let for_all = |kind| kind == FaultKind::BrokerRestart;
    if plan.faults.iter().any(|fault| for_all(fault.kind)) {
        return None;
    }
    let dropped =
        (0..plan.faults.len()).filter(|place| at.contains(&plan.faults[*place].site.instance));
    for place in dropped {
        let fewer = sim::run(&setup, seed, &without(&plan, place));
        let (before, after) = (
            events_in(&with.history, elsewhere),
            events_in(&fewer.history, elsewhere),
        );
        if before != after {
            let differs = before.iter().zip(&after).find(|(one, other)| one != other);
            let plan = words(scenario, &plan);
            return Some(format!("{plan}, without fault {}: {differs:?}", place + 1));
        }
    }
    None
}

/// Two instances of which each has a timer of its own, and does the work itself.
fn side_by_side() -> Scenario {
    let text = "
        [topology]
        kind = 'local'
        instances = 2
        [[timer]]
        id = 'one'
        schedule = { every = '20s', phase = '1h' }
        slots = 3
        on = ['instance-1']
        [[timer]]
        id = 'other'
        schedule = { every = '25s', phase = '1h' }
        slots = 3
        on = ['instance-2']
        [dispatch]
        claim = { kind = 'unique_run_key' }
        [guard]
        kind = 'insert_first'
        [work]
        takes = '7s'
    ";
    Scenario::parse(text, "side-by-side").unwrap()
}

/// Two schedulers of which each has a timer of its own, and three executors for both.
fn queued() -> Scenario {
    let text = "
        [topology]
        kind = 'queued'
        schedulers = 2
        executors = 3
        [[timer]]
        id = 'one'
        schedule = { every = '20s', phase = '1h' }
        slots = 3
        on = ['scheduler-1']
        [[timer]]
        id = 'other'
        schedule = { every = '25s', phase = '1h' }
        slots = 3
        [guard]
        kind = 'state_machine'
        [work]
        takes = '7s'
        [downstream]
        protection = { kind = 'idempotency_key' }
    ";
    Scenario::parse(text, "queued").unwrap()
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn what_came_before_a_fault_is_as_it_was_without_it(
        which in any::<prop::sample::Index>(),
        seed in 1..=16u64,
        number in any::<u64>(),
    ) {
        let entries = catalogue::all();
        let scenario = which.get(&entries).scenario().unwrap();
        let setup = ready(&scenario);
        let (plan, with) = random(&scenario, &setup, seed, number);
        let strikes = strikes(&with.history);
        prop_assert_eq!(strikes.len(), plan.faults.len());
        for (place, struck) in strikes.into_iter().enumerate() {
            let fewer = sim::run(&setup, seed, &without(&plan, place));
            let site = plan.faults[place].site;
            let reached = with.sites.iter().position(|reached| reached.site == site).unwrap();
            prop_assert_eq!(&with.history.events[..struck], &fewer.history.events[..struck]);
            prop_assert_eq!(&with.sites[..=reached], &fewer.sites[..=reached]);
        }
    }

    #[test]
    fn an_instance_with_work_of_its_own_does_not_notice_the_faults_of_another(
        seed in 1..=16u64,
        number in any::<u64>(),
    ) {
        let (one, other) = ([InstanceId(0)], [InstanceId(1)]);
        let scenario = side_by_side();
        for (at, elsewhere) in [(one, other), (other, one)] {
            prop_assert_eq!(changed_elsewhere(&scenario, seed, number, &at, &elsewhere), None);
        }
    }

    #[test]
    fn schedulers_do_not_notice_the_faults_of_executors(
        seed in 1..=16u64,
        number in any::<u64>(),
    ) {
        let schedulers = [0, 1].map(InstanceId);
        let executors = [2, 3, 4].map(InstanceId);
        let changed = changed_elsewhere(&queued(), seed, number, &executors, &schedulers);
        prop_assert_eq!(changed, None);
    }
}
