//! Which changed set-ups survive a plan, and which every plan: the courier of `toy`, by hand.
#![allow(clippy::unwrap_used)]

use evidence::{InstanceId, Verdict};
use runkey_explore::toy::{Courier, ERRAND};
use runkey_explore::{
    Bound, Candidate, Control, Cut, Doubt, Execute, ExecuteError, ExploreError, Outcome, Reach,
    Survival, Survivors, Unknown, survivors,
};
use scenarios::spec::{Fault, FaultKind, Phase, Plan, RunRef, Site, Space};
use scheduler::steps::{BROKER_ACK, DOWNSTREAM_PERFORM};

const UNKEYED: Courier = Courier {
    keyed: false,
    tries: 9,
};
const KEYED: Courier = Courier {
    keyed: true,
    ..UNKEYED
};

fn fault(kind: FaultKind, step: u8, n: u16, phase: Phase) -> Fault {
    Fault {
        site: Site {
            instance: InstanceId(0),
            step,
            run: RunRef::Slot(ERRAND),
            n,
            phase,
        },
        kind,
        magnitude_ms: 0,
    }
}

/// The ack never arrives: the errand is done twice.
fn lost_ack(n: u16) -> Fault {
    fault(FaultKind::LoseRequest, BROKER_ACK.number, n, Phase::Request)
}

fn lost_answer() -> Fault {
    fault(
        FaultKind::LoseReply,
        DOWNSTREAM_PERFORM.number,
        1,
        Phase::Done,
    )
}

fn plan(faults: &[Fault]) -> Plan {
    Plan {
        faults: faults.to_vec(),
    }
}

/// A courier that is keyed under plans of so few faults only.
fn keyed_up_to(faults: usize) -> impl Execute {
    move |seed, plan: &Plan| match plan.faults.len() <= faults {
        true => KEYED.execute(seed, plan),
        false => UNKEYED.execute(seed, plan),
    }
}

/// Tries each candidate in space core to two faults, under seeds 1 and 2.
fn tried(
    candidates: &[(&dyn Execute, &[usize])],
    with: impl FnOnce(&mut Survivors<'_>),
) -> Result<Vec<Survival>, ExploreError> {
    let bounds = [Bound {
        space: Space::Core,
        up_to: 2,
        choices: &UNKEYED,
    }];
    let candidates: Vec<Candidate<'_>> = candidates
        .iter()
        .map(|(execute, extends)| Candidate {
            execute: *execute,
            bounds: &bounds,
            extends,
        })
        .collect();
    let plan = plan(&[lost_ack(1)]);
    let control = Control::new();
    let mut asked = Survivors {
        plan: &plan,
        seed: 1,
        reach: Some(Reach {
            seeds: &(1..=2),
            most_plans: 1_000,
        }),
        enough: 3,
        control: &control,
    };
    with(&mut asked);
    survivors(&asked, &candidates)
}

#[test]
fn what_survives_the_plan_is_told_from_what_survives_every_plan() {
    let two = keyed_up_to(1);
    let tried = tried(&[(&UNKEYED, &[]), (&two, &[]), (&KEYED, &[])], |_| {}).unwrap();

    assert_eq!(tried[0].this_plan.verdict, Verdict::Duplicate);
    assert!(!tried[0].survives_plan());
    assert_eq!(tried[0].every_plan, None, "it failed already");

    assert!(tried[1].survives_plan() && !tried[1].survives_all());
    let broken = tried[1].every_plan.as_ref().unwrap();
    let smallest = broken.breaks.as_ref().unwrap();
    assert_eq!(smallest.verdict(), Verdict::Duplicate);
    assert_eq!(smallest.plan.faults.len(), 2);

    assert_eq!(tried[2].this_plan.verdict, Verdict::ExactlyOnce);
    assert!(tried[2].survives_all());
    let all = tried[2].every_plan.as_ref().unwrap();
    // Of each seed 1 plan without a fault, 6 with one, 24 with two.
    assert_eq!((all.plans, all.max_faults()), (2 * (1 + 6 + 24), 2));
    assert_eq!(all.seeds, 1..=2);
    assert!(all.spaces[0].exhausted);
}

#[test]
fn a_fault_whose_site_is_not_reached_any_more_is_left_out_and_named() {
    let faults = [lost_answer(), lost_ack(9)];
    let plan = plan(&faults);
    let tried = tried(&[(&KEYED, &[])], |asked| {
        asked.plan = Box::leak(Box::new(plan))
    });
    let this_plan = &tried.unwrap()[0].this_plan;
    assert_eq!(this_plan.left_out, [lost_ack(9)]);
    assert_eq!(this_plan.verdict, Verdict::ExactlyOnce);
}

#[test]
fn after_enough_that_survive_everything_no_more_are_explored() {
    let five: [(&dyn Execute, &[usize]); 5] = [(&KEYED, &[]); 5];
    let explored = |enough| -> Vec<bool> {
        let tried = tried(&five, |asked| asked.enough = enough).unwrap();
        assert!(tried.iter().all(Survival::survives_plan));
        tried.iter().map(|each| each.every_plan.is_some()).collect()
    };
    assert_eq!(explored(2), [true, true, false, false, false]);
    assert_eq!(explored(9), [true; 5]);
    assert_eq!(explored(0), [false; 5]);
}

#[test]
fn more_changes_are_not_explored_where_fewer_survive_everything() {
    let two = keyed_up_to(1);
    let candidates: [(&dyn Execute, &[usize]); 4] = [
        (&two, &[]),
        (&KEYED, &[]),
        (&KEYED, &[0]),
        (&KEYED, &[0, 1]),
    ];
    let tried = tried(&candidates, |_| {}).unwrap();
    let explored: Vec<bool> = tried.iter().map(|each| each.every_plan.is_some()).collect();
    assert_eq!(explored, [true, true, true, false]);
}

#[test]
fn without_a_reach_only_the_plan_is_run() {
    let tried = tried(&[(&KEYED, &[])], |asked| asked.reach = None).unwrap();
    assert!(tried[0].survives_plan() && !tried[0].survives_all());
    assert_eq!(tried[0].every_plan, None);
}

#[test]
fn a_last_level_that_is_too_large_is_left_out_unless_it_is_the_one_that_counts() {
    const FEW: Reach<'static> = Reach {
        seeds: &(1..=2),
        most_plans: 47,
    };
    let one_fault = tried(&[(&KEYED, &[])], |asked| asked.reach = Some(FEW)).unwrap();
    let found = one_fault[0].every_plan.as_ref().unwrap();
    assert_eq!((found.plans, found.max_faults()), (2 * (1 + 6), 1));
    assert!(found.holds());

    let two = Box::leak(Box::new(plan(&[lost_answer(), lost_ack(2)])));
    let two_faults = tried(&[(&KEYED, &[])], |asked| {
        asked.plan = two;
        asked.reach = Some(FEW);
    });
    let two_faults = two_faults.unwrap();
    let found = two_faults[0].every_plan.as_ref().unwrap();
    assert_eq!(
        found.unknown,
        Some(Unknown::TooLarge {
            faults: 2,
            plans: 48
        })
    );
    assert!(!two_faults[0].survives_all());
}

#[test]
fn what_was_cut_short_survives_nothing() {
    let stopped = Box::leak(Box::new(Control::new()));
    stopped.stop();
    let tried = tried(&[(&KEYED, &[])], |asked| asked.control = stopped).unwrap();
    let found = tried[0].every_plan.as_ref().unwrap();
    assert_eq!(
        found.unknown,
        Some(Unknown::Doubt(Doubt::Cut(Cut::Interrupted)))
    );
    assert!(!found.spaces[0].exhausted);
    assert!(!tried[0].survives_all());
}

#[test]
fn an_execution_that_fails_for_another_reason_is_no_survival() {
    let panics = |_, _: &Plan| -> Result<Outcome, ExecuteError> { Err(ExecuteError::Panicked) };
    let error = tried(&[(&KEYED, &[]), (&panics, &[])], |_| {}).unwrap_err();
    let ExploreError::Execute { source, plan, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((source, plan.faults.len()), (ExecuteError::Panicked, 1));
}
