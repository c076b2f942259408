#![allow(clippy::unwrap_used)]
use super::*;
use crate::guards::GuardConfig;
use crate::memory::bench::{Bench, MAX_ATTEMPTS, interleaved};

fn guard(bench: &Bench) -> Box<dyn Guard> {
    guard_with(bench, StateMachineConfig::default())
}

fn guard_with(bench: &Bench, config: StateMachineConfig) -> Box<dyn Guard> {
    bench.guard(&GuardConfig::StateMachine(config))
}

const LEASE: Span = Span::secs(45);
/// What a visit hears that finds the run in other hands, by the database's clock.
const BUSY: Entry = Entry::Busy {
    retry_in: Some(Span::millis(45_001)),
};

const fn failure(retry_in: Span) -> Outcome {
    Outcome::Retryable {
        retry_in,
        counts: true,
    }
}

#[test]
fn the_first_attempt_makes_the_record_and_a_success_ends_it() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    assert_eq!(
        permit,
        Permit {
            attempt: 1,
            token: 1,
            fence: Some(1),
            repeats: false,
            taken_over: false,
        }
    );
    let running = bench.record().unwrap();
    assert_eq!(
        (running.state, running.attempt, running.until),
        (Some(Running), 1, Some(45_000))
    );
    let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
    assert_eq!(settle, Settle::Ack);
    let done = bench.record().unwrap();
    assert_eq!(
        (done.state, done.attempt, done.until),
        (Some(Succeeded), 1, None)
    );
    assert_eq!(bench.enter(&*guard, 2), Entry::Done);
    assert_eq!(
        bench.told(),
        [
            What::Recorded(Running),
            What::Recorded(Succeeded),
            What::SkippedDone
        ]
    );
}

#[test]
fn of_two_that_enter_at_once_one_runs_and_the_other_waits_for_a_lease() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let (one, other) = interleaved(&bench, &*guard);
    assert!(matches!(one, Entry::Run(_)));
    assert_eq!(other, BUSY);
}

#[test]
fn by_the_nodes_clock_a_busy_visit_waits_for_the_rest_of_the_lease() {
    let bench = Bench::new();
    let guard = guard_with(
        &bench,
        StateMachineConfig {
            clock: TimeSource::Node,
            ..StateMachineConfig::default()
        },
    );
    bench.run(&*guard, 1);
    bench.pass(Span::secs(15));
    assert_eq!(
        bench.enter(&*guard, 2),
        Entry::Busy {
            retry_in: Some(Span::millis(30_001))
        }
    );
}

#[test]
fn an_expired_lease_is_taken_over_as_the_next_attempt() {
    let bench = Bench::new();
    let guard = guard(&bench);
    bench.run(&*guard, 1);
    bench.pass(Span::millis(44_999));
    assert_eq!(bench.enter(&*guard, 2), BUSY);
    bench.pass(Span::millis(1));
    assert_eq!(
        bench.run(&*guard, 2),
        Permit {
            attempt: 2,
            token: 2,
            fence: Some(2),
            repeats: true,
            taken_over: true,
        }
    );
    assert!(bench.told().contains(&What::TakenOver));
}

#[test]
fn whoever_does_not_hear_that_it_has_entered_enters_again_as_the_same_attempt() {
    let bench = Bench::new();
    let guard = guard(&bench);
    bench.database.lose_next_reply();
    assert_eq!(bench.try_enter(&*guard, 1), Err(CallError::TimedOut));
    assert_eq!(bench.run(&*guard, 1).attempt, 1);
    assert_eq!(bench.enter(&*guard, 2), BUSY);
}

#[test]
fn whoever_does_not_hear_that_it_has_finished_finishes_again_in_the_same_way() {
    for (outcome, settle, state) in [
        (Outcome::Succeeded, Settle::Ack, Succeeded),
        (Outcome::Final, Settle::Ack, Dead),
        (Outcome::Quarantined, Settle::Ack, Unknown),
        (failure(Span::secs(1)), Settle::Defer(Span::secs(1)), Failed),
    ] {
        let bench = Bench::new();
        let guard = guard(&bench);
        let permit = bench.run(&*guard, 1);
        bench.database.lose_next_reply();
        let lost = bench.try_finish(&*guard, 1, &permit, outcome);
        assert_eq!(lost, Err(CallError::TimedOut));
        assert_eq!(bench.finish(&*guard, 1, &permit, outcome), settle);
        assert_eq!(bench.record().unwrap().state, Some(state));
        assert!(bench.told().contains(&What::Recorded(state)));
    }
}

#[test]
fn a_failure_waits_for_its_backoff_and_is_then_the_next_attempt() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    let settle = bench.finish(&*guard, 1, &permit, failure(Span::secs(2)));
    assert_eq!(settle, Settle::Defer(Span::secs(2)));
    bench.pass(Span::millis(1_999));
    assert_eq!(bench.enter(&*guard, 2), BUSY);
    bench.pass(Span::millis(1));
    let next = bench.run(&*guard, 2);
    assert_eq!((next.attempt, next.taken_over), (2, false));
}

#[test]
fn the_last_failure_is_dead() {
    let bench = Bench::new();
    let guard = guard(&bench);
    for attempt in 1..=MAX_ATTEMPTS {
        let permit = bench.run(&*guard, u64::from(attempt));
        assert_eq!(permit.attempt, attempt);
        bench.finish(&*guard, u64::from(attempt), &permit, failure(Span::ZERO));
    }
    assert_eq!(bench.record().unwrap().state, Some(Dead));
    assert_eq!(bench.enter(&*guard, 9), Entry::GivenUp);
    assert_eq!(
        bench.told()[5..],
        [What::Recorded(Dead), What::GaveUp, What::GaveUp]
    );
}

#[test]
fn an_attempt_that_does_not_count_is_not_counted() {
    let bench = Bench::new();
    let guard = guard(&bench);
    for token in 1..20 {
        let permit = bench.run(&*guard, token);
        assert_eq!(permit.attempt, 1);
        let in_progress = Outcome::Retryable {
            retry_in: Span::ZERO,
            counts: false,
        };
        bench.finish(&*guard, token, &permit, in_progress);
    }
}

#[test]
fn a_last_attempt_whose_lease_is_over_is_dead_and_not_begun_again() {
    let bench = Bench::new();
    let guard = guard(&bench);
    for token in 1..=u64::from(MAX_ATTEMPTS) {
        bench.run(&*guard, token);
        assert_eq!(bench.enter(&*guard, 99), BUSY);
        bench.pass(LEASE);
    }
    assert_eq!(bench.enter(&*guard, 9), Entry::GivenUp);
    assert_eq!(bench.record().unwrap().state, Some(Dead));
    let told = bench.told();
    assert_eq!(told[told.len() - 2..], [What::Recorded(Dead), What::GaveUp]);
}

#[test]
fn the_late_success_of_a_last_attempt_is_recorded_even_where_it_was_given_up() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let mut last = None;
    for token in 1..=u64::from(MAX_ATTEMPTS) {
        last = Some((token, bench.run(&*guard, token)));
        bench.pass(LEASE);
    }
    assert_eq!(bench.enter(&*guard, 9), Entry::GivenUp);
    let (token, permit) = last.unwrap();
    bench.finish(&*guard, token, &permit, Outcome::Succeeded);
    assert_eq!(bench.record().unwrap().state, Some(Succeeded));
}

#[test]
fn a_superseded_attempt_records_nothing_and_keeps_its_message() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let late = bench.run(&*guard, 1);
    bench.pass(LEASE);
    let current = bench.run(&*guard, 2);
    for outcome in [Outcome::Succeeded, Outcome::Final, failure(Span::ZERO)] {
        let settle = bench.finish(&*guard, 1, &late, outcome);
        assert_eq!(settle, Settle::Defer(LEASE));
        assert_eq!(bench.told().last(), Some(&What::RecordRefused));
        assert_eq!(bench.record().unwrap().state, Some(Running));
    }
    bench.finish(&*guard, 2, &current, Outcome::Succeeded);
    let settle = bench.finish(&*guard, 1, &late, Outcome::Final);
    assert_eq!(settle, Settle::Ack);
    assert_eq!(bench.record().unwrap().state, Some(Succeeded));
}

#[test]
fn without_the_finalise_check_a_superseded_attempt_overwrites_the_record() {
    let bench = Bench::new();
    let guard = guard_with(
        &bench,
        StateMachineConfig {
            finalise_check: false,
            ..StateMachineConfig::default()
        },
    );
    let late = bench.run(&*guard, 1);
    bench.pass(LEASE);
    let current = bench.run(&*guard, 2);
    bench.finish(&*guard, 2, &current, Outcome::Succeeded);
    bench.finish(&*guard, 1, &late, failure(Span::ZERO));
    assert_eq!(bench.record().unwrap().state, Some(Failed));
}

#[test]
fn an_attempt_whose_success_came_with_its_effect_never_records_a_failure() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    let record = guard.record_success(bench.visit(1), &permit);
    let at = At::new(&steps::DOWNSTREAM_PERFORM, &bench.ids);
    crate::memory::block_on(bench.ports().database.execute(at, record)).unwrap();
    let settle = bench.finish(&*guard, 1, &permit, failure(Span::ZERO));
    assert_eq!(settle, Settle::Ack);
    assert_eq!(bench.record().unwrap().state, Some(Succeeded));
}

#[test]
fn heartbeats_keep_the_lease_for_as_long_as_they_go_on() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
    for _ in 0..10 {
        assert!(!bench.advance(&mut hold, Span::secs(15)));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
    }
}

#[test]
fn a_heartbeat_that_finds_another_owner_tells_of_the_loss() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
    bench.pass(LEASE);
    bench.run(&*guard, 2);
    assert!(bench.advance(&mut hold, Span::ZERO));
    assert_eq!(bench.told().last(), Some(&What::OwnershipLost));
}

#[test]
fn heartbeats_that_fail_for_a_whole_lease_count_as_a_loss() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
    for lost in [false, false, true] {
        bench.database.lose_next_request();
        assert_eq!(bench.advance(&mut hold, Span::secs(15)), lost);
    }
    assert_eq!(
        bench.told()[1..],
        [
            What::TimedOut,
            What::TimedOut,
            What::TimedOut,
            What::OwnershipLost
        ]
    );
}

#[test]
fn without_heartbeats_there_is_nothing_to_hold() {
    let bench = Bench::new();
    let guard = guard_with(
        &bench,
        StateMachineConfig {
            heartbeat: Switchable(None),
            ..StateMachineConfig::default()
        },
    );
    let permit = bench.run(&*guard, 1);
    assert!(bench.hold(&*guard, 1, &permit).is_none());
}

#[test]
fn an_outcome_left_to_a_person_stays_so() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    bench.finish(&*guard, 1, &permit, Outcome::Quarantined);
    bench.pass(Span::secs(1_000_000));
    assert_eq!(bench.enter(&*guard, 2), Entry::GivenUp);
    assert_eq!(bench.record().unwrap().state, Some(Unknown));
}

#[test]
fn a_cancelled_attempt_writes_nothing_and_gives_its_message_back() {
    let bench = Bench::new();
    let guard = guard(&bench);
    let permit = bench.run(&*guard, 1);
    let before = bench.record();
    let settle = bench.finish(&*guard, 1, &permit, Outcome::Cancelled);
    assert_eq!(settle, Settle::Defer(Span::ZERO));
    assert_eq!(bench.record(), before);
}
