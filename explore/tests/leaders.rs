//! A leader, explored: what is broken is found, and what is sound holds under two faults.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use runkey_explore::{Bound, Check, Checked, Control, Expectation, Failure, Met, check};
use scenarios::Scenario;
use scenarios::spec::{Bounds, Space};
use sim::{Parts, Setup};

/// One slot a minute after the start, one executor, a key at the downstream, and what a case adds.
fn checked(adds: &str, expectation: &Expectation, up_to: u8) -> Checked {
    let text = format!(
        "[[timer]]\nid = 'report'\nschedule = {{ every = '1m', phase = '1m' }}\nslots = 1\n\
         [topology]\nexecutors = 1\n[dispatch]\n{adds}"
    );
    let scenario = Scenario::parse(&text, "leaders.toml").unwrap();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let choices = Bounds::new(&scenario, Space::Core);
    check(&Check {
        execute: &setup,
        seeds: &(1..=1),
        bounds: &[Bound {
            space: Space::Core,
            up_to,
            choices: &choices,
        }],
        expectation,
        all_plans: false,
        show_next_up_to: 0,
        walking: runkey_explore::Walking::default(),
        control: &Control::new(),
    })
    .unwrap()
}

const KEYED: &str = "[downstream]\nprotection = { kind = 'idempotency_key' }\n";

#[test]
fn a_leader_that_looks_back_is_sound_under_two_faults_where_the_outside_knows_the_run() {
    let adds = format!("claim = {{ kind = 'leader' }}\n{KEYED}");
    let holds = Expectation::Holds { faults: Some(2) };
    let checked = checked(&adds, &holds, 2);
    assert_eq!(checked.met, Met::Yes);
    assert!(checked.explored.spaces[0].exhausted);
    assert_eq!(checked.explored.merged, 0, "what is believed is not merged");
}

#[test]
fn a_leader_that_does_not_look_back_loses_the_slot_in_the_gap() {
    for adds in [
        "claim = { kind = 'leader' }\ncatch_up = 'none'\n",
        "claim = { kind = 'leader' }\ncursor = 'memory'\n",
        "claim = { kind = 'leader', via = 'database' }\ncursor = 'memory'\n",
    ] {
        let lost = Expectation::Breaks(Failure {
            verdict: Verdict::Lost,
            layer: None,
            effects: None,
            by: Vec::new(),
            faults_needed: Some(1),
            also: vec![Verdict::Duplicate],
        });
        let checked = checked(&format!("{adds}{KEYED}"), &lost, 1);
        assert_eq!(checked.met, Met::Yes, "{adds}");
    }
}
