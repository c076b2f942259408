//! What the bench `explore` compares does the same: the bare loop makes the simulator's calls, one
//! by one, and madsim's network carries as many messages to the same end.

#[path = "../benches/explore/mod.rs"]
mod standard;

use scenarios::spec::Phase;
use scheduler::steps;
use standard::paired::{self, Ratio, Rounds};
use standard::{CALLS, MESSAGES, Standard, Way};
use std::cell::RefCell;
use std::time::Duration;

/// Steps that are no call: nothing travels.
const NO_CALLS: [u8; 2] = [steps::TIMER_WAIT.number, steps::TIMER_FIRE.number];

#[test]
fn the_bare_loop_tells_the_simulators_histories_and_the_others_the_same_at_other_times() {
    let standard = Standard::new();
    (1..=16).for_each(|seed| standard.assert_same(seed));
}

#[test]
fn the_standard_scenario_makes_the_calls_that_it_is_said_to() {
    let outcome = Standard::new().simulate(1);
    let phase = |phase| {
        let sites = outcome.sites.iter().map(|reached| reached.site);
        let calls = sites.filter(|site| site.phase == phase && !NO_CALLS.contains(&site.step));
        calls.count() as u64
    };
    assert_eq!(phase(Phase::Request), CALLS);
    assert_eq!(phase(Phase::Request) + phase(Phase::Done), MESSAGES);
}

#[test]
fn every_way_repeats_itself() {
    let standard = Standard::new();
    for way in Way::ALL {
        let once = standard.execute(way, 1);
        assert_eq!(standard.execute(way, 1), once, "{}", way.name());
    }
    assert_eq!(
        standard.execute(Way::Bare, 1),
        standard.simulate(1).trace_hash
    );
}

#[test]
fn a_ratio_is_told_of_the_fastest_turns_and_of_the_middle_round() {
    let seconds = |seconds: [u64; 5]| seconds.map(Duration::from_secs).to_vec();
    let rounds = Rounds(vec![
        seconds([10, 10, 20, 10, 10]),
        seconds([5, 1, 4, 8, 3]),
    ]);
    let expected = Ratio {
        fastest: 0.1,
        median: 0.3,
    };
    assert_eq!(rounds.ratio(0, 1), expected);
    assert_eq!(rounds.ratio(1, 1).median, 1.0);
}

#[test]
fn everybody_takes_a_turn_in_every_round_and_with_the_same_seeds() {
    let turns = RefCell::new(Vec::new());
    let one = |seed, times| turns.borrow_mut().push(("one", seed, times));
    let other = |seed, times| turns.borrow_mut().push(("other", seed, times));
    let rounds = paired::race(2, 10, &[&one, &other]);
    assert_eq!(rounds.0.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(
        turns.into_inner(),
        [
            ("one", 0, 10),
            ("other", 0, 10),
            ("other", 10, 10),
            ("one", 10, 10)
        ]
    );
}

#[test]
fn every_way_stands_at_its_place() {
    for (place, way) in Way::ALL.into_iter().enumerate() {
        assert_eq!(way.place(), place);
    }
}
