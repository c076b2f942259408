//! Who waits for whom, and what happens after the wait.

use super::shop::{ID, Shop, VALUE, begin, delete, insert, insert_or, is, lock, pairs, set, share};
use scheduler::ports::Isolation::{ReadCommitted, RepeatableRead};
use scheduler::ports::sql::{Conflict, NamedLock, Predicate, Query, Setting, SqlError, WhenLocked};

#[test]
fn the_second_waits_for_the_holder_and_the_third_for_the_second() {
    let mut shop = Shop::open();
    let [a, b, c] = [(); 3].map(|()| shop.session(ReadCommitted));
    shop.ok(a, begin());
    shop.ok(a, set(11, is(ID, 1)));
    shop.waits(b, lock(is(ID, 1), WhenLocked::Wait), &[a]);
    shop.waits(c, set(13, is(ID, 1)), &[b]);
    shop.ok(a, Query::Commit);
    assert_eq!(pairs(&shop.answer(b).expect("it is free")), [(1, 11)]);
    assert_eq!(shop.answer(c).expect("it is free").affected, Some(1));
}

#[test]
fn who_waited_looks_again_at_the_newest_version() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(ReadCommitted));
    shop.ok(a, begin());
    shop.ok(a, set(11, is(ID, 1)));
    shop.waits(b, set(99, is(VALUE, 10)), &[a]);
    shop.ok(a, Query::Commit);
    assert_eq!(shop.answer(b).expect("nothing is wrong").affected, Some(0));
}

#[test]
fn from_repeatable_read_on_a_row_changed_meanwhile_is_an_error_and_a_locked_one_is_not() {
    for (changes, result) in [(true, None), (false, Some(1))] {
        let mut shop = Shop::open();
        let [a, b] = [(); 2].map(|()| shop.session(RepeatableRead));
        shop.ok(a, begin());
        if changes {
            shop.ok(a, set(11, is(ID, 1)));
        } else {
            shop.ok(a, lock(is(ID, 1), WhenLocked::Wait));
        }
        shop.waits(b, set(12, is(ID, 1)), &[a]);
        shop.ok(a, Query::Commit);
        let expected = result.ok_or(SqlError::SerializationFailure);
        let affected = shop.answer(b).map(|reply| reply.affected.unwrap_or(0));
        assert_eq!(affected, expected);
    }
}

#[test]
fn skip_locked_passes_over_and_nowait_fails() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(ReadCommitted));
    shop.ok(a, begin());
    shop.ok(a, lock(is(ID, 1), WhenLocked::Wait));
    let skipped = shop.ok(b, lock(Predicate::Always, WhenLocked::Skip));
    assert_eq!(pairs(&skipped), [(2, 20)]);
    let failed = shop.ask(b, lock(Predicate::Always, WhenLocked::Fail));
    assert_eq!(failed, Err(SqlError::LockNotAvailable));
}

#[test]
fn shared_locks_go_together_and_keep_a_change_out() {
    let mut shop = Shop::open();
    let [a, b, c] = [(); 3].map(|()| shop.session(ReadCommitted));
    for id in [a, b] {
        shop.ok(id, begin());
        shop.ok(id, share(is(ID, 1)));
    }
    shop.waits(c, delete(is(ID, 1)), &[a]);
    shop.ok(a, Query::Commit);
    shop.still_waits(c, &[b]);
    shop.ok(b, Query::Rollback);
    assert_eq!(shop.answer(c).expect("nobody is left").affected, Some(1));
}

#[test]
fn the_key_of_a_running_insert_is_waited_for_and_its_end_decides() {
    for (end, result) in [
        (Query::Commit, Err(SqlError::UniqueViolation)),
        (Query::Rollback, Ok(Some(1))),
    ] {
        let mut shop = Shop::open();
        let [a, b] = [(); 2].map(|()| shop.session(ReadCommitted));
        shop.ok(a, begin());
        shop.ok(a, insert(3, 30));
        shop.waits(b, insert(3, 31), &[a]);
        shop.ok(a, end);
        assert_eq!(shop.answer(b).map(|reply| reply.affected), result);
    }
}

#[test]
fn do_nothing_waits_too_and_fails_where_the_winner_cannot_be_seen() {
    for (isolation, result) in [
        (ReadCommitted, Ok(Some(0))),
        (RepeatableRead, Err(SqlError::SerializationFailure)),
    ] {
        let mut shop = Shop::open();
        let [a, b] = [(); 2].map(|()| shop.session(isolation));
        let nothing = || Conflict::Nothing { target: None };
        shop.ok(a, begin());
        shop.ok(a, insert_or(3, 30, nothing()));
        shop.waits(b, insert_or(3, 31, nothing()), &[a]);
        shop.ok(a, Query::Commit);
        assert_eq!(shop.answer(b).map(|reply| reply.affected), result);
    }
}

#[test]
fn the_victim_is_whose_check_comes_while_the_circle_is_there() {
    for (first, second, victim) in [(900, 6_000, 0), (200, 200, 1)] {
        let mut shop = Shop::open();
        let [a, b] = [(); 2].map(|()| shop.session(ReadCommitted));
        shop.ok(a, Query::Set(Setting::DeadlockCheck(first)));
        shop.ok(b, Query::Set(Setting::DeadlockCheck(second)));
        for (id, key) in [(a, 1), (b, 2)] {
            shop.ok(id, begin());
            shop.ok(id, set(0, is(ID, key)));
        }
        shop.waits(a, set(0, is(ID, 2)), &[b]);
        shop.pass(400);
        shop.waits(b, set(0, is(ID, 1)), &[a]);
        shop.pass(600);
        let (victim, other) = if victim == 0 { (a, b) } else { (b, a) };
        assert_eq!(shop.answer(victim), Err(SqlError::Deadlock));
        assert_eq!(shop.answer(other).expect("it goes on").affected, Some(1));
    }
}

#[test]
fn a_circle_through_a_lock_with_a_name_is_found() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(ReadCommitted));
    let take = || {
        Query::Named(NamedLock::Take {
            name: "7".into(),
            wait: None,
            transaction: true,
        })
    };
    shop.ok(a, begin());
    shop.ok(b, begin());
    shop.ok(a, take());
    shop.ok(b, set(0, is(ID, 1)));
    shop.waits(a, set(0, is(ID, 1)), &[b]);
    shop.waits(b, take(), &[a]);
    shop.pass(1_000);
    assert_eq!(shop.answer(a), Err(SqlError::Deadlock));
    assert!(shop.answer(b).is_ok());
}

#[test]
fn a_lock_taken_after_a_savepoint_goes_with_it() {
    let mut shop = Shop::open();
    let [a, b, c] = [(); 3].map(|()| shop.session(ReadCommitted));
    shop.ok(a, begin());
    shop.ok(a, lock(is(ID, 1), WhenLocked::Wait));
    shop.ok(a, Query::Savepoint("s".into()));
    shop.ok(a, set(21, is(ID, 2)));
    shop.waits(b, set(22, is(ID, 2)), &[a]);
    shop.waits(c, set(12, is(ID, 1)), &[a]);
    shop.ok(a, Query::RollbackTo("s".into()));
    assert_eq!(shop.answer(b).expect("it is free").affected, Some(1));
    shop.still_waits(c, &[a]);
}

#[test]
fn lock_timeout_ends_the_wait_and_fails_the_transaction() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(ReadCommitted));
    shop.ok(a, begin());
    shop.ok(a, set(11, is(ID, 1)));
    shop.ok(b, Query::Set(Setting::LockWait(Some(100))));
    shop.ok(b, begin());
    shop.waits(b, set(12, is(ID, 1)), &[a]);
    shop.pass(100);
    assert_eq!(shop.answer(b), Err(SqlError::LockTimeout));
    let after = shop.ask(b, set(12, is(ID, 2)));
    assert_eq!(after, Err(SqlError::TransactionAborted));
}

#[test]
fn a_killed_waiter_leaves_its_place_to_the_next() {
    let mut shop = Shop::open();
    let [a, b, c] = [(); 3].map(|()| shop.session(ReadCommitted));
    shop.ok(a, begin());
    shop.ok(a, set(11, is(ID, 1)));
    shop.waits(b, set(12, is(ID, 1)), &[a]);
    shop.waits(c, set(13, is(ID, 1)), &[b]);
    shop.server.kill(shop.now, b);
    shop.still_waits(c, &[a]);
}

#[test]
fn who_waited_for_a_change_that_was_undone_does_not_lock_the_next_one() {
    let mut shop = Shop::open();
    let [a, b, c] = [(); 3].map(|()| shop.session(ReadCommitted));
    shop.ok(b, begin());
    shop.ok(b, set(11, is(ID, 1)));
    shop.ok(a, begin());
    shop.waits(a, set(12, is(ID, 1)), &[b]);
    shop.waits(c, lock(is(ID, 1), WhenLocked::Wait), &[a]);
    shop.ok(b, Query::Rollback);
    assert_eq!(shop.answer(a).expect("it is free").affected, Some(1));
    shop.still_waits(c, &[a]);
    // The version that A has made is A's alone.
    shop.ok(a, set(13, is(ID, 1)));
    shop.ok(a, Query::Commit);
    assert_eq!(pairs(&shop.answer(c).expect("it is free")), [(1, 13)]);
}
