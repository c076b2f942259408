//! What would have stopped it: which changes survive a counterexample, and which every plan within
//! the default bounds, under seed 1.
#![allow(clippy::unwrap_used)]

mod set_ups;

use evidence::Verdict;
use explore::{
    Bound, Candidate, Check, Checked, Choices, Control, Counterexample, DEFAULT_BOUNDS,
    Expectation, MOST_PLANS, Reach, Survival, Survivors, check, survivors,
};
use scenarios::Scenario;
use scenarios::cures::{Cost, Cured, cures_of};
use scenarios::spec::Bounds;
use scheduler::dispatch::{CatchUp, Order};
use scheduler::effects::ProtectionConfig;
use set_ups::{named, ready, recommended};
use sim::Setup;

/// What came of each change.
struct Tried {
    scenario: String,
    all: Vec<(Cured, Survival)>,
}

/// A set-up with the faults of its own default bounds.
struct Bounded {
    setup: Setup,
    spaces: [Bounds; 2],
}

impl Bounded {
    fn of(scenario: &Scenario) -> Self {
        Bounded {
            setup: ready(scenario),
            spaces: DEFAULT_BOUNDS.map(|(space, _)| Bounds::new(scenario, space)),
        }
    }

    fn bounds(&self) -> Vec<Bound<'_>> {
        let depths = DEFAULT_BOUNDS.iter().zip(&self.spaces);
        depths
            .map(|((space, up_to), choices)| Bound {
                space: *space,
                up_to: *up_to,
                choices: choices as &dyn Choices,
            })
            .collect()
    }

    fn check(&self) -> Checked {
        let expect = self.setup.scenario().expect.clone().unwrap_or_default();
        check(&Check {
            execute: &self.setup,
            seeds: &(1..=1),
            bounds: &self.bounds(),
            expectation: &Expectation::of(&expect).unwrap(),
            all_plans: false,
            show_next_up_to: 0,
            walking: explore::Walking::default(),
            control: &Control::new(),
        })
        .unwrap()
    }
}

/// Finds the smallest plan and tries every change that fits, until `enough` survive everything.
fn tried(scenario: &Scenario, enough: usize) -> Tried {
    let example = Bounded::of(scenario).check().counterexample.unwrap();
    tried_against(scenario, &example, enough)
}

fn tried_against(scenario: &Scenario, example: &Counterexample, enough: usize) -> Tried {
    let cures = cures_of(scenario);
    let bounded: Vec<Bounded> = cures
        .iter()
        .map(|cured| Bounded::of(&cured.scenario))
        .collect();
    let bounds: Vec<Vec<Bound<'_>>> = bounded.iter().map(Bounded::bounds).collect();
    let candidates: Vec<Candidate<'_>> = bounded
        .iter()
        .zip(&bounds)
        .map(|(bounded, bounds)| Candidate {
            execute: &bounded.setup,
            bounds,
            extends: &[],
        })
        .collect();
    let asked = Survivors {
        plan: &example.plan,
        seed: example.seed,
        reach: Some(Reach {
            seeds: &(1..=1),
            most_plans: MOST_PLANS,
        }),
        enough,
        control: &Control::new(),
    };
    let survivals = survivors(&asked, &candidates).unwrap();
    Tried {
        scenario: scenario.name.clone(),
        all: cures.into_iter().zip(survivals).collect(),
    }
}

impl Tried {
    /// The changes that survive everything, in the order tried.
    fn survive_all(&self) -> Vec<&str> {
        self.named(Survival::survives_all)
    }

    fn named(&self, wanted: fn(&Survival) -> bool) -> Vec<&str> {
        let all = self.all.iter();
        all.filter(|(_, survival)| wanted(survival))
            .map(|(cured, _)| cured.name.as_str())
            .collect()
    }

    fn of(&self, name: &str) -> &Survival {
        let found = self.all.iter().find(|(cured, _)| cured.name == name);
        &found
            .unwrap_or_else(|| panic!("{}: no {name}", self.scenario))
            .1
    }

    /// The verdict and the faults with which a change breaks that survives the counterexample.
    fn breaks(&self, name: &str) -> (Verdict, Vec<String>) {
        let survival = self.of(name);
        assert!(survival.survives_plan(), "{}: {name}", self.scenario);
        let found = survival.every_plan.as_ref().unwrap();
        let example = found
            .breaks
            .as_ref()
            .unwrap_or_else(|| panic!("{name} survives"));
        let cells = example.cells().map(|cell| cell.to_string());
        (example.verdict(), cells.collect())
    }
}

#[test]
fn a_crash_before_the_ack_is_stopped_for_good_by_a_key_and_for_once_by_a_record() {
    let tried = tried(&named("crash-before-ack"), 2);
    assert_eq!(
        tried.survive_all(),
        [
            "idempotency key downstream",
            "timer on one instance + idempotency key downstream"
        ]
    );
    let (verdict, faults) = tried.breaks("guard state_machine");
    assert_eq!((verdict, faults.len()), (Verdict::Duplicate, 1));
    let (verdict, faults) = tried.breaks("guard insert_first");
    assert_eq!((verdict, faults.len()), (Verdict::Lost, 1));
    let (verdict, faults) = tried.breaks("ack before the work");
    assert_eq!((verdict, faults.len()), (Verdict::Duplicate, 1));
    // A lock keeps no record: the redelivered run enters again.
    for lock in ["guard process_mutex", "guard redis_lock", "guard lock_row"] {
        let under_plan = &tried.of(lock).this_plan;
        assert_eq!(
            (under_plan.verdict, under_plan.failure),
            (Verdict::Duplicate, true),
            "{lock}"
        );
        assert_eq!(tried.of(lock).every_plan, None, "{lock}");
    }
}

#[test]
fn a_lock_that_ends_within_the_work_is_longer_or_renewed_under_this_plan_only() {
    let tried = tried(&named("lock-ttl-shorter-than-work"), 1);
    assert_eq!(tried.survive_all(), ["idempotency key downstream"]);
    for setting in [
        "ack deadline renewed",
        "ack deadline longer than the work",
        "lock renewed",
        "lock longer than the work",
    ] {
        let (verdict, faults) = tried.breaks(setting);
        assert_eq!(
            (verdict, faults.len()),
            (Verdict::Duplicate, 1),
            "{setting}"
        );
    }
}

#[test]
fn two_schedulers_are_one_by_a_claim_as_long_as_nothing_else_goes_wrong() {
    let tried = tried(&named("two-schedulers-no-claim"), 1);
    assert_eq!(tried.survive_all(), ["idempotency key downstream"]);
    for change in [
        "timer on one instance",
        "unique run key",
        "guard state_machine",
    ] {
        let (verdict, faults) = tried.breaks(change);
        assert_eq!((verdict, faults.len()), (Verdict::Duplicate, 1), "{change}");
    }
}

#[test]
fn a_lost_confirm_is_recognised_by_the_broker_or_by_the_downstream() {
    let tried = tried(&named("lost-publish-confirm"), 1);
    assert_eq!(tried.survive_all(), ["idempotency key downstream"]);
    let (verdict, faults) = tried.breaks("dedup window of the broker");
    assert_eq!((verdict, faults.len()), (Verdict::Duplicate, 1));
}

#[test]
fn in_local_it_takes_a_record_that_is_taken_over_and_a_key() {
    let tried = tried(&named("replicas-fire-independently"), 1);
    assert_eq!(
        tried.survive_all(),
        ["guard state_machine + idempotency key downstream"]
    );
    assert_eq!(
        tried.breaks("timer on one instance"),
        (Verdict::Lost, vec!["crash@timer.wait".to_owned()])
    );
    let (verdict, faults) = tried.breaks("idempotency key downstream");
    assert_eq!((verdict, faults.len()), (Verdict::Unfinished, 2));
}

/// One instance, which dies while it waits: whatever is added, nobody is left to fire the slot.
#[test]
fn where_nothing_of_the_list_survives_everything_none_is_claimed_to() {
    let tried = tried(&named("registered-twice"), 1);
    assert_eq!(tried.survive_all(), [""; 0]);
    let stack = "unique run key + guard state_machine + idempotency key downstream";
    let (verdict, faults) = tried.breaks(stack);
    assert!(verdict != Verdict::ExactlyOnce && !faults.is_empty());
    assert_eq!(
        tried.breaks("timer registered once"),
        (Verdict::Lost, vec!["crash@timer.wait".to_owned()])
    );
}

/// The recommended stack with one slot, without one of its protections.
fn without(take: fn(&mut Scenario)) -> Scenario {
    let mut scenario = recommended();
    scenario.timers[0].slots = 1;
    take(&mut scenario);
    scenario
}

/// `tests/protections.rs` takes the protections out one by one and holds what breaks. The cheapest
/// change that survives everything then is to put back what was taken.
#[test]
fn what_was_taken_from_the_recommended_stack_is_what_is_to_be_put_back() {
    type Taken = (fn(&mut Scenario), &'static str, Cost);
    let taken: [Taken; 3] = [
        (
            |s| s.dispatch.order = Order::AdvanceThenDispatch,
            "outbox",
            Cost::Part,
        ),
        (
            |s| s.dispatch.catch_up = CatchUp::None,
            "catch-up of every slot",
            Cost::Setting,
        ),
        (
            |s| s.downstream.protection = ProtectionConfig::default(),
            "idempotency key downstream",
            Cost::Downstream,
        ),
    ];
    for (take, put_back, cost) in taken {
        let tried = tried(&without(take), 1);
        assert_eq!(tried.survive_all(), [put_back]);
        let found = tried.all.iter().find(|(cured, _)| cured.name == put_back);
        let (cured, _) = found.unwrap();
        assert_eq!(cured.cost, cost);
        assert_eq!(cured.scenario.hash(), without(|_| ()).hash(), "{put_back}");
    }
}

/// The same table: publish, then record breaks beside the unique run key, and without it nothing
/// does, since the key at the downstream stops the second run.
#[test]
fn where_less_is_enough_less_is_the_cheapest_change() {
    let tried = tried(
        &without(|s| s.dispatch.order = Order::DispatchThenAdvance),
        2,
    );
    assert_eq!(tried.survive_all(), ["no claim", "outbox"]);
}

/// What is claimed to survive holds when it is checked as a scenario of its own.
#[test]
fn a_survivor_checked_on_its_own_holds() {
    let tried = tried(&named("lost-publish-confirm"), 1);
    for (cured, survival) in &tried.all {
        if let Some(found) = &survival.every_plan {
            let checked = Bounded::of(&cured.scenario).check();
            assert_eq!(
                checked.counterexample.is_none(),
                found.holds(),
                "{}",
                cured.name
            );
            let smallest = checked.counterexample.as_ref();
            assert_eq!(smallest, found.breaks.as_ref(), "{}", cured.name);
        }
    }
}
