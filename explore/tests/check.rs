//! Expectations: each rule both ways.
#![allow(clippy::unwrap_used)]

use evidence::{Attribution, Layer, Verdict};
use runkey_explore::toy::Courier;
use runkey_explore::{
    Bound, Check, Checked, Choice, Choices, Control, Cut, DEFAULT_BOUNDS, Doubt, Execute,
    ExecuteError, Expectation, Failure, Met, NextLevel, Outcome, SpaceExplored, Unmet, check,
    check_plan, find_plan,
};
use scenarios::file::{ExpectTable, ExpectedVerdict};
use scenarios::spec::{Cell, FaultKind, FaultSpec, Phase, Plan, Space};
use std::ops::RangeInclusive;

const UNPROTECTED: Courier = Courier {
    keyed: false,
    tries: 20,
};
const KEYED: Courier = Courier {
    keyed: true,
    tries: 20,
};
/// Loses the errand when both of its tries are lost.
const SHORT: Courier = Courier {
    keyed: true,
    tries: 2,
};

fn breaks(verdict: Verdict, faults_needed: u8) -> Failure {
    Failure {
        verdict,
        layer: None,
        effects: None,
        by: Vec::new(),
        faults_needed: Some(faults_needed),
        also: Vec::new(),
    }
}

fn holds(faults: impl Into<Option<u8>>) -> Expectation {
    Expectation::Holds {
        faults: faults.into(),
    }
}

fn checked(execute: &dyn Execute, expectation: &Expectation, up_to: u8) -> Checked {
    checked_with(execute, expectation, up_to, |_| {})
}

fn checked_with(
    execute: &dyn Execute,
    expectation: &Expectation,
    up_to: u8,
    change: impl FnOnce(&mut Check<'_>),
) -> Checked {
    let bounds = [Bound {
        space: Space::Core,
        up_to,
        choices: &UNPROTECTED,
    }];
    let control = Control::new();
    let mut question = Check {
        execute,
        seeds: &(1..=4),
        bounds: &bounds,
        expectation,
        all_plans: false,
        show_next_up_to: 1000,
        walking: runkey_explore::Walking::default(),
        control: &control,
    };
    change(&mut question);
    check(&question).unwrap()
}

fn met(execute: &dyn Execute, failure: Failure) -> Met {
    checked(execute, &Expectation::Breaks(failure), 2).met
}

/// The keyed courier's sites, and any verdict.
fn telling<F>(verdict: F) -> impl Fn(u64, &Plan) -> Result<Outcome, ExecuteError> + Sync
where
    F: Fn(u64, &Plan) -> Verdict + Sync,
{
    move |seed, plan| {
        let mut outcome = KEYED.execute(seed, plan)?;
        let verdict = verdict(seed, plan);
        outcome.judgement.verdict = verdict;
        outcome.judgement.failure = verdict != Verdict::ExactlyOnce;
        outcome.judgement.slots[0].verdict = verdict;
        outcome.judgement.layer = outcome
            .judgement
            .failure
            .then_some(Attribution::Layer(Layer::Effect));
        Ok(outcome)
    }
}

#[test]
fn a_failure_that_appears_as_stated_is_met_and_the_first_matching_plan_is_shown() {
    let expectation = Expectation::Breaks(Failure {
        layer: Some(Layer::Delivery),
        effects: Some(2),
        ..breaks(Verdict::Duplicate, 1)
    });
    let checked = checked(&UNPROTECTED, &expectation, 2);
    assert_eq!(checked.met, Met::Yes);
    assert_eq!(
        checked.levels.len(),
        2,
        "stops after the first level with a failure"
    );
    let shown = checked.counterexample.clone().unwrap();
    // The canonically first failing plan loses the reply of perform; it is not of layer delivery.
    let cells: Vec<String> = shown.cells().map(|cell| cell.to_string()).collect();
    assert_eq!(cells, ["lose_request@broker.ack"]);
    assert_eq!((shown.seed, shown.effects()), (1, 2));
    assert_eq!(checked.verdict(), Some(Verdict::Duplicate));
    assert_eq!(checked.next, None);
    assert_eq!(checked.explored.plans, 4 + 4 * 6);
    assert_eq!((checked.explored.sites, checked.explored.faults), (4, 6));
    assert_eq!(
        checked.explored.spaces,
        [SpaceExplored {
            space: Space::Core,
            max_faults: 1,
            exhausted: true
        }]
    );
}

#[test]
fn rule_a_fails_if_no_plan_gives_verdict_layer_effects_or_story() {
    let nothing = Met::No(Unmet::NothingMatches { faults: Some(1) });
    let duplicate = || breaks(Verdict::Duplicate, 1);
    assert_eq!(met(&UNPROTECTED, duplicate()), Met::Yes);
    for wrong in [
        breaks(Verdict::Lost, 1),
        Failure {
            layer: Some(Layer::Publishing),
            ..duplicate()
        },
        Failure {
            effects: Some(3),
            ..duplicate()
        },
        Failure {
            by: vec![Cell {
                kind: FaultKind::LoseReply,
                step: 22,
            }],
            ..duplicate()
        },
    ] {
        assert_eq!(met(&UNPROTECTED, wrong.clone()), nothing, "{wrong:?}");
    }
    let story = vec![Cell {
        kind: FaultKind::LoseRequest,
        step: 22,
    }];
    assert_eq!(
        met(
            &UNPROTECTED,
            Failure {
                by: story,
                ..duplicate()
            }
        ),
        Met::Yes
    );
}

#[test]
fn rule_a_is_met_by_one_of_the_declared_seeds() {
    let on_seed_4 = telling(|seed, plan| match (seed, plan.faults.len()) {
        (4, 1) => Verdict::Stuck,
        _ => Verdict::ExactlyOnce,
    });
    assert_eq!(met(&on_seed_4, breaks(Verdict::Stuck, 1)), Met::Yes);
    let checked = checked_with(
        &on_seed_4,
        &Expectation::Breaks(breaks(Verdict::Stuck, 1)),
        1,
        |check| {
            check.seeds = &(1..=3);
        },
    );
    assert_eq!(
        checked.met,
        Met::No(Unmet::NothingMatches { faults: Some(1) })
    );
    assert_eq!(checked.counterexample, None);
    assert_eq!(checked.verdict(), Some(Verdict::ExactlyOnce));
}

#[test]
fn without_faults_the_failure_must_appear_under_every_seed() {
    let always = telling(|_, _| Verdict::Duplicate);
    assert_eq!(met(&always, breaks(Verdict::Duplicate, 0)), Met::Yes);
    let sometimes = telling(|seed, _| match seed {
        2 => Verdict::ExactlyOnce,
        _ => Verdict::Duplicate,
    });
    assert_eq!(
        met(&sometimes, breaks(Verdict::Duplicate, 0)),
        Met::No(Unmet::NotUnderEverySeed {
            matching: 3,
            seeds: 4
        })
    );
}

#[test]
fn rule_b_fails_if_fewer_faults_fail_on_any_seed_in_any_way() {
    let two = || breaks(Verdict::Duplicate, 2);
    let at_two = telling(|_, plan| match plan.faults.len() {
        2 => Verdict::Duplicate,
        _ => Verdict::ExactlyOnce,
    });
    assert_eq!(met(&at_two, two()), Met::Yes);
    let lost_on_seed_3 = telling(|seed, plan| match (seed, plan.faults.len()) {
        (_, 2) => Verdict::Duplicate,
        (3, 1) => Verdict::Lost,
        _ => Verdict::ExactlyOnce,
    });
    let early = Met::No(Unmet::BreaksEarlier {
        faults: 1,
        verdict: Verdict::Lost,
    });
    assert_eq!(met(&lost_on_seed_3, two()), early);
    // What is permitted beside the failure is not permitted before it.
    let also = Failure {
        also: vec![Verdict::Lost],
        ..two()
    };
    assert_eq!(met(&lost_on_seed_3, also), early);
    let checked = checked_with(&lost_on_seed_3, &Expectation::Breaks(two()), 2, |check| {
        check.all_plans = true;
    });
    assert_eq!((checked.levels.len(), checked.met), (3, early));
    assert_eq!(checked.counterexample.unwrap().seed, 3);
}

#[test]
fn rule_c_fails_if_another_verdict_appears_that_also_does_not_permit() {
    let mixed = telling(|seed, plan| match (seed, plan.faults.len()) {
        (1, 1) => Verdict::Duplicate,
        (2, 1) => Verdict::Lost,
        _ => Verdict::ExactlyOnce,
    });
    let other = Met::No(Unmet::OtherVerdict {
        verdict: Verdict::Duplicate,
    });
    assert_eq!(met(&mixed, breaks(Verdict::Lost, 1)), other);
    let permitted = Failure {
        also: vec![Verdict::Duplicate, Verdict::Stuck],
        ..breaks(Verdict::Lost, 1)
    };
    let checked = checked(&mixed, &Expectation::Breaks(permitted), 2);
    assert_eq!(checked.met, Met::Yes);
    assert_eq!(checked.also_never_seen, [Verdict::Stuck]);
    let shown = checked.counterexample.unwrap();
    assert_eq!((shown.seed, shown.verdict()), (2, Verdict::Lost));
}

#[test]
fn a_failure_that_needs_more_faults_than_stated_is_not_met_and_still_shown() {
    let checked = checked(
        &UNPROTECTED,
        &Expectation::Breaks(breaks(Verdict::Duplicate, 0)),
        2,
    );
    assert_eq!(
        checked.met,
        Met::No(Unmet::NothingMatches { faults: Some(0) })
    );
    assert_eq!(checked.counterexample.unwrap().plan.faults.len(), 1);
}

#[test]
fn a_bound_below_the_faults_needed_is_inconclusive() {
    let doubt = |expected, explored| Met::Inconclusive(Doubt::BoundTooLow { expected, explored });
    let three = Expectation::Breaks(breaks(Verdict::Duplicate, 3));
    assert_eq!(checked(&KEYED, &three, 2).met, doubt(3, 2));
    // Even where fewer faults already fail: never 0 or 100.
    assert_eq!(checked(&UNPROTECTED, &three, 2).met, doubt(3, 2));
    assert_eq!(checked(&KEYED, &holds(3), 2).met, doubt(3, 2));
}

#[test]
fn a_promise_that_holds_is_met_and_what_comes_next_is_shown_not_judged() {
    let checked = checked(&SHORT, &holds(1), 4);
    assert_eq!(checked.met, Met::Yes);
    assert_eq!(
        (checked.levels.len(), checked.counterexample.clone()),
        (2, None)
    );
    let Some(NextLevel::Ran(next)) = checked.next else {
        panic!("{:?}", checked.next);
    };
    assert_eq!((next.faults, next.plans), (2, 4 * 24));
    let first = next.first_failing.unwrap();
    assert_eq!(
        (first.verdict(), first.plan.faults.len()),
        (Verdict::Lost, 2)
    );
}

#[test]
fn a_next_level_above_the_limit_is_not_run_and_its_size_is_told() {
    let checked = checked_with(&KEYED, &holds(None), 2, |check| check.show_next_up_to = 383);
    assert_eq!(checked.met, Met::Yes);
    assert_eq!(
        checked.next,
        Some(NextLevel::TooLarge {
            faults: 3,
            plans: 4 * 96
        })
    );
    assert_eq!(checked.explored.plans, 4 * (1 + 6 + 24));
}

#[test]
fn a_promise_that_breaks_is_not_met() {
    let broken = |faults| {
        Met::No(Unmet::Breaks {
            faults,
            verdict: Verdict::Lost,
        })
    };
    assert_eq!(checked(&SHORT, &holds(2), 2).met, broken(2));
    assert_eq!(checked(&SHORT, &holds(None), 4).met, broken(2));
    // Also where the claim goes further than the exploration.
    assert_eq!(checked(&SHORT, &holds(9), 2).met, broken(2));
    let shown = checked(&SHORT, &holds(None), 4).counterexample.unwrap();
    assert_eq!(shown.plan.faults.len(), 2);
}

#[test]
fn a_cure_may_claim_nothing_beyond_the_empty_plan() {
    let checked = checked(&UNPROTECTED, &holds(0), 2);
    assert_eq!((checked.met, checked.levels.len()), (Met::Yes, 1));
    let Some(NextLevel::Ran(next)) = checked.next else {
        panic!("{:?}", checked.next);
    };
    assert_eq!((next.faults, next.failing), (1, 8));
}

#[test]
fn a_promise_is_not_confirmed_where_nothing_can_go_wrong_or_nothing_happens() {
    struct Nothing;
    impl Choices for Nothing {
        fn faults_at(&self, _: u8, _: Phase, _: bool) -> &[Choice] {
            &[]
        }
    }
    let bounds = [Bound {
        space: Space::Core,
        up_to: 2,
        choices: &Nothing,
    }];
    let checked = check(&Check {
        execute: &KEYED,
        seeds: &(1..=4),
        bounds: &bounds,
        expectation: &holds(None),
        all_plans: false,
        show_next_up_to: 0,
        walking: runkey_explore::Walking::default(),
        control: &Control::new(),
    });
    assert_eq!(checked.unwrap().met, Met::Inconclusive(Doubt::NoSites));

    let idle = |seed: u64, plan: &Plan| {
        let mut outcome = KEYED.execute(seed, plan)?;
        outcome.judgement.slots.clear();
        Ok(outcome)
    };
    assert_eq!(
        checked_no_effects(&idle),
        Met::Inconclusive(Doubt::NoEffects)
    );
}

fn checked_no_effects(execute: &dyn Execute) -> Met {
    checked(execute, &holds(None), 1).met
}

#[test]
fn an_interrupt_is_inconclusive_whatever_was_found() {
    let control = Control::new();
    let stops_at_level_1 = |seed: u64, plan: &Plan| {
        if plan.faults.len() == 1 && control.plans() >= 3 {
            control.stop();
        }
        UNPROTECTED.execute(seed, plan)
    };
    for expectation in [
        holds(None),
        Expectation::Breaks(breaks(Verdict::Duplicate, 1)),
    ] {
        let bounds = [Bound {
            space: Space::Core,
            up_to: 2,
            choices: &UNPROTECTED,
        }];
        let checked = check(&Check {
            execute: &stops_at_level_1,
            seeds: &(1..=4),
            bounds: &bounds,
            expectation: &expectation,
            all_plans: false,
            show_next_up_to: 0,
            walking: runkey_explore::Walking::default(),
            control: &control,
        })
        .unwrap();
        assert_eq!(checked.met, Met::Inconclusive(Doubt::Cut(Cut::Interrupted)));
        assert!(checked.explored.spaces.iter().all(|space| !space.exhausted));
    }
}

#[test]
fn by_default_core_goes_to_two_faults_and_full_to_one_in_one_run_of_each_plan() {
    struct Core;
    impl Choices for Core {
        fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[Choice] {
            let all = UNPROTECTED.faults_at(step, phase, replayable);
            &all[..all.len().min(1)]
        }
    }
    let choices = |space| -> &dyn Choices {
        match space {
            Space::Core => &Core,
            _ => &UNPROTECTED,
        }
    };
    let bounds = DEFAULT_BOUNDS.map(|(space, up_to)| Bound {
        space,
        up_to,
        choices: choices(space),
    });
    let checked = check(&Check {
        execute: &KEYED,
        seeds: &(1..=4),
        bounds: &bounds,
        expectation: &holds(None),
        all_plans: false,
        show_next_up_to: 0,
        walking: runkey_explore::Walking::default(),
        control: &Control::new(),
    })
    .unwrap();
    let plans: Vec<u64> = checked.levels.iter().map(|level| level.plans).collect();
    // Full has 6 single faults, core 4; of two core faults there are 3 x 4.
    assert_eq!(plans, [4, 4 * 6, 4 * 12]);
    let spaces: Vec<_> = checked
        .explored
        .spaces
        .iter()
        .map(|explored| (explored.space, explored.max_faults, explored.exhausted))
        .collect();
    assert_eq!(spaces, [(Space::Core, 2, true), (Space::Full, 1, true)]);
    assert_eq!(
        checked.next,
        Some(NextLevel::TooLarge {
            faults: 3,
            plans: 4 * 36
        })
    );
}

#[test]
fn progress_counts_towards_the_exact_number_of_plans() {
    let control = Control::new();
    let bounds = [Bound {
        space: Space::Core,
        up_to: 3,
        choices: &UNPROTECTED,
    }];
    let behind = |seed: u64, plan: &Plan| {
        if plan.faults.len() == 2 && control.level() == 2 {
            assert_eq!(control.expected(), 4 * 24);
            assert!(control.plans() <= control.expected());
        }
        KEYED.execute(seed, plan)
    };
    let checked = check(&Check {
        execute: &behind,
        seeds: &(1..=4),
        bounds: &bounds,
        expectation: &holds(None),
        all_plans: false,
        show_next_up_to: 0,
        walking: runkey_explore::Walking::default(),
        control: &control,
    });
    assert_eq!(checked.unwrap().met, Met::Yes);
    assert_eq!((control.level(), control.plans()), (3, 4 * 96));
    assert_eq!(control.expected(), 4 * 96);
}

#[test]
fn a_check_gives_the_same_result_on_any_number_of_threads() {
    let results: Vec<Checked> = [1, 2, 8]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| checked(&SHORT, &holds(None), 3))
        })
        .into();
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

fn given(plan_of: impl Fn(u64) -> Plan, expectation: &Expectation, execute: &dyn Execute) -> Met {
    let seeds: RangeInclusive<u64> = 1..=4;
    let plan_of = |seed| Ok(plan_of(seed));
    check_plan(execute, &seeds, &plan_of, expectation, &Control::new())
        .unwrap()
        .met
}

#[test]
fn a_given_plan_must_do_what_is_expected_under_every_seed() {
    let lost_ack = checked(
        &UNPROTECTED,
        &Expectation::Breaks(Failure {
            layer: Some(Layer::Delivery),
            ..breaks(Verdict::Duplicate, 1)
        }),
        1,
    );
    let plan = lost_ack.counterexample.unwrap().plan;
    let duplicate = Expectation::Breaks(breaks(Verdict::Duplicate, 1));
    assert_eq!(given(|_| plan.clone(), &duplicate, &UNPROTECTED), Met::Yes);
    assert_eq!(
        given(|_| plan.clone(), &duplicate, &KEYED),
        Met::No(Unmet::NotUnderEverySeed {
            matching: 0,
            seeds: 4
        })
    );
    assert_eq!(given(|_| plan.clone(), &holds(None), &KEYED), Met::Yes);
    assert_eq!(
        given(|_| plan.clone(), &holds(None), &UNPROTECTED),
        Met::No(Unmet::Breaks {
            faults: 1,
            verdict: Verdict::Duplicate
        })
    );
    let broken_anyway = telling(|_, _| Verdict::Duplicate);
    assert_eq!(
        given(|_| plan.clone(), &duplicate, &broken_anyway),
        Met::No(Unmet::BreaksEarlier {
            faults: 0,
            verdict: Verdict::Duplicate
        })
    );
}

#[test]
fn a_story_may_leave_faults_out_but_not_change_their_order() {
    let by = |cells: &[(FaultKind, u8)]| Failure {
        by: cells
            .iter()
            .map(|(kind, step)| Cell {
                step: *step,
                kind: *kind,
            })
            .collect(),
        ..breaks(Verdict::Lost, 2)
    };
    // Lost only by a late request, then a lost reply of the same try.
    let late_then_lost = telling(|_, plan| match plan.faults.as_slice() {
        [first, second]
            if (first.kind, second.kind) == (FaultKind::Delay, FaultKind::LoseReply) =>
        {
            Verdict::Lost
        }
        _ => Verdict::ExactlyOnce,
    });
    let late = (FaultKind::Delay, 20);
    let lost = (FaultKind::LoseReply, 20);
    for met_by in [vec![], vec![late], vec![lost], vec![late, lost]] {
        assert_eq!(met(&late_then_lost, by(&met_by)), Met::Yes, "{met_by:?}");
    }
    for not_met_by in [vec![lost, late], vec![late, late], vec![late, lost, lost]] {
        let met = met(&late_then_lost, by(&not_met_by));
        assert_eq!(met, Met::No(Unmet::NothingMatches { faults: Some(2) }));
    }
}

#[test]
fn a_described_plan_is_found_fault_by_fault_and_stands_in_the_order_of_striking() {
    let spec = |occurrence, kind, phase| FaultSpec {
        instance: None,
        step: 20,
        run: None,
        occurrence,
        phase,
        kind,
        magnitude_ms: 0,
    };
    // The second try exists only because the first is lost; described first, it is not there.
    let second = spec(2, FaultKind::LoseReply, Phase::Done);
    let first = spec(1, FaultKind::LoseReply, Phase::Done);
    let plan = find_plan(&UNPROTECTED, 1, &[first, second]).unwrap();
    let tries: Vec<u16> = plan.faults.iter().map(|fault| fault.site.n).collect();
    assert_eq!(tries, [1, 2]);
    let error = find_plan(&UNPROTECTED, 1, &[second, first]).unwrap_err();
    assert!(error.is_irreproducible());
    assert_eq!(
        error.to_string(),
        "seed 1: fault 1 of the plan (lose_reply@downstream.perform) waits at a site that the \
         execution does not reach"
    );
    // Described backwards where both sites are there from the start.
    let late = spec(1, FaultKind::Delay, Phase::Request);
    let plan = find_plan(&UNPROTECTED, 1, &[first, late]).unwrap();
    let kinds: Vec<FaultKind> = plan.faults.iter().map(|fault| fault.kind).collect();
    assert_eq!(kinds, [FaultKind::Delay, FaultKind::LoseReply]);
    let expectation = Expectation::Breaks(breaks(Verdict::Duplicate, 2));
    assert_eq!(
        given(|_| plan.clone(), &expectation, &UNPROTECTED),
        Met::Yes
    );
}

#[test]
fn expectations_are_read_from_the_scenario() {
    let table = ExpectTable {
        verdict: ExpectedVerdict::Is(Verdict::Lost),
        by: vec![
            "crash@guard.enter".to_owned(),
            "partition@broker.ack".to_owned(),
        ],
        faults_needed: Some(2),
        ..ExpectTable::default()
    };
    let Expectation::Breaks(failure) = Expectation::of(&table).unwrap() else {
        panic!("{table:?}");
    };
    let by: Vec<String> = failure.by.iter().map(|cell| cell.to_string()).collect();
    assert_eq!(by, table.by);
    assert_eq!(Expectation::of(&ExpectTable::default()), Ok(holds(None)));
    for wrong in ["crash", "crash@nowhere", "sneeze@broker.ack", ""] {
        let table = ExpectTable {
            by: vec![wrong.to_owned()],
            ..table.clone()
        };
        assert!(Expectation::of(&table).is_err(), "{wrong}");
    }
}
