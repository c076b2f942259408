//! What the lock promises, and what each part left out breaks.
#![allow(clippy::unwrap_used)]
use super::super::GuardConfig;
use super::*;
use crate::memory::bench::Bench;

fn guard(bench: &Bench, config: RedisLockConfig) -> Box<dyn Guard> {
    bench.guard(&GuardConfig::RedisLock(config))
}

const BUSY: Entry = Entry::Busy { retry_in: None };

#[test]
fn while_it_is_held_nobody_else_enters_and_after_the_release_everybody_may() {
    for acquire in [Acquire::SetNxPx, Acquire::TwoStep] {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                acquire,
                ..RedisLockConfig::default()
            },
        );
        let permit = bench.run(&*guard, 1);
        assert_eq!(bench.enter(&*guard, 2), BUSY);
        let settle = bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        assert_eq!(settle, Settle::Ack);
        bench.run(&*guard, 3);
    }
}

#[test]
fn without_renewal_the_lock_ends_with_its_ttl() {
    let bench = Bench::new();
    let guard = guard(
        &bench,
        RedisLockConfig {
            renew_every: Some(Switchable(None)),
            ..RedisLockConfig::default()
        },
    );
    let permit = bench.run(&*guard, 1);
    assert!(bench.hold(&*guard, 1, &permit).is_none());
    bench.pass(Span::millis(19_999));
    assert_eq!(bench.enter(&*guard, 2), BUSY);
    bench.pass(Span::millis(1));
    bench.run(&*guard, 2);
}

#[test]
fn a_crash_between_the_two_steps_leaves_a_lock_without_end() {
    let bench = Bench::new();
    let guard = guard(
        &bench,
        RedisLockConfig {
            acquire: Acquire::TwoStep,
            ..RedisLockConfig::default()
        },
    );
    bench.locks.refuse_after(1);
    assert_eq!(bench.try_enter(&*guard, 1), Err(CallError::Refused));
    bench.pass(Span::secs(1_000_000));
    assert_eq!(bench.enter(&*guard, 2), BUSY);
}

#[test]
fn only_a_blind_release_frees_the_lock_of_the_next_owner() {
    for (release, next) in [
        (Unlock::OwnerChecked, true),
        (Unlock::GetThenDelete, true),
        (Unlock::Blind, false),
    ] {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                release,
                ..RedisLockConfig::default()
            },
        );
        let late = bench.run(&*guard, 1);
        bench.pass(Span::secs(20));
        bench.run(&*guard, 2);
        bench.finish(&*guard, 1, &late, Outcome::Succeeded);
        let held = bench.enter(&*guard, 3) == BUSY;
        assert_eq!(held, next, "{release:?}");
    }
}

#[test]
fn a_late_renewal_that_does_not_check_prolongs_or_takes_the_lock_of_the_next_owner() {
    for (renew, lost, taken) in [
        (Renew::OwnerChecked, true, false),
        (Renew::Blind, false, false),
        (Renew::Overwrite, false, true),
    ] {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                renew,
                ..RedisLockConfig::default()
            },
        );
        let late = bench.run(&*guard, 1);
        let mut hold = bench.hold(&*guard, 1, &late).unwrap();
        assert!(!bench.advance(&mut hold, Span::ZERO));
        bench.pass(Span::secs(20));
        let next = bench.run(&*guard, 2);
        assert_eq!(bench.advance(&mut hold, Span::ZERO), lost, "{renew:?}");
        // The next owner's checked release finds its lock, unless it was taken.
        bench.finish(&*guard, 2, &next, Outcome::Succeeded);
        let held = bench.enter(&*guard, 3) == BUSY;
        assert_eq!(held, taken, "{renew:?}");
    }
}

#[test]
fn renewal_keeps_the_lock_for_as_long_as_it_goes_on() {
    let bench = Bench::new();
    let guard = guard(&bench, RedisLockConfig::default());
    let permit = bench.run(&*guard, 1);
    let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
    for _ in 0..20 {
        assert!(!bench.advance(&mut hold, Span::millis(6_666)));
        assert_eq!(bench.enter(&*guard, 2), BUSY);
    }
}

#[test]
fn a_lock_that_is_somebody_elses_is_lost() {
    let bench = Bench::new();
    let guard = guard(&bench, RedisLockConfig::default());
    let permit = bench.run(&*guard, 1);
    let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
    assert!(!bench.advance(&mut hold, Span::ZERO));
    bench.pass(Span::secs(20));
    bench.run(&*guard, 2);
    assert!(bench.advance(&mut hold, Span::ZERO));
    assert_eq!(bench.told(), [What::OwnershipLost]);
}

#[test]
fn a_lock_that_cannot_be_renewed_for_its_ttl_counts_as_lost() {
    let bench = Bench::new();
    let guard = guard(&bench, RedisLockConfig::default());
    let permit = bench.run(&*guard, 1);
    let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
    bench.locks.refuse_after(0);
    assert!(!bench.advance(&mut hold, Span::millis(6_666)));
    bench.locks.refuse_after(0);
    assert!(!bench.advance(&mut hold, Span::millis(6_666)));
    bench.locks.refuse_after(0);
    assert!(!bench.advance(&mut hold, Span::millis(6_666)));
    bench.locks.refuse_after(0);
    assert!(bench.advance(&mut hold, Span::millis(6_666)));
    assert_eq!(bench.told().last(), Some(&What::OwnershipLost));
}

#[test]
fn a_renewal_that_is_never_tried_again_lets_the_lock_end_and_tells_nobody() {
    for (renew_retry, second) in [(true, false), (false, true)] {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                renew_retry,
                ..RedisLockConfig::default()
            },
        );
        let permit = bench.run(&*guard, 1);
        let mut hold = bench.hold(&*guard, 1, &permit).unwrap();
        bench.locks.refuse_after(0);
        for _ in 0..4 {
            assert!(!bench.advance(&mut hold, Span::millis(6_666)));
        }
        assert_eq!(bench.enter(&*guard, 2) != BUSY, second, "{renew_retry}");
    }
}

#[test]
fn the_same_process_enters_a_reentrant_lock_twice() {
    for (reentrant, second) in [(false, false), (true, true)] {
        let bench = Bench::new();
        let guard = guard(
            &bench,
            RedisLockConfig {
                reentrant,
                ..RedisLockConfig::default()
            },
        );
        bench.run(&*guard, 1);
        assert_eq!(bench.enter(&*guard, 2) != BUSY, second, "{reentrant}");
    }
}

#[test]
fn a_key_that_is_too_coarse_excludes_what_is_unrelated() {
    for (lock_key, busy) in [
        (LockBy::Run, false),
        (LockBy::Timer, true),
        (LockBy::All, true),
    ] {
        let mut bench = Bench::new();
        let config = RedisLockConfig {
            lock_key,
            ..RedisLockConfig::default()
        };
        let guard = guard(&bench, config);
        bench.run(&*guard, 1);
        let next: evidence::RunKey = "report@2026-01-02T02:00:00.000Z".parse().unwrap();
        bench.key = next.text().clone();
        bench.ids.run = Some(next);
        assert_eq!(bench.enter(&*guard, 2) == BUSY, busy, "{lock_key:?}");
    }
}

#[test]
fn without_nx_everybody_takes_the_lock() {
    let bench = Bench::new();
    let guard = guard(
        &bench,
        RedisLockConfig {
            acquire: Acquire::Set,
            ..RedisLockConfig::default()
        },
    );
    let first = bench.run(&*guard, 1);
    bench.run(&*guard, 2);
    // It is the second's: a checked release of the first leaves it alone.
    bench.finish(&*guard, 1, &first, Outcome::Succeeded);
    bench.run(&*guard, 3);
}
