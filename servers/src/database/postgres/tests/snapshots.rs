//! What a transaction sees, and what is left after a crash.

use super::shop::{ID, Shop, begin, insert, is, pairs, read, set};
use scheduler::ports::Isolation;
use scheduler::ports::Value;
use scheduler::ports::sql::{Predicate, Query, Scalar, Setting, SqlError, Tag};

#[test]
fn a_snapshot_is_taken_at_the_first_statement_and_not_at_begin() {
    let mut shop = Shop::open();
    let reader = shop.session(Isolation::RepeatableRead);
    let writer = shop.session(Isolation::ReadCommitted);
    shop.ok(reader, begin());
    shop.ok(writer, set(11, is(ID, 1)));
    assert_eq!(pairs(&shop.ok(reader, read(is(ID, 1)))), [(1, 11)]);
    shop.ok(writer, set(12, is(ID, 1)));
    assert_eq!(pairs(&shop.ok(reader, read(is(ID, 1)))), [(1, 11)]);
}

#[test]
fn a_select_without_a_table_takes_the_snapshot_and_set_does_not() {
    let mut shop = Shop::open();
    let reader = shop.session(Isolation::RepeatableRead);
    let writer = shop.session(Isolation::ReadCommitted);
    shop.ok(reader, begin());
    shop.ok(reader, Query::Set(Setting::Nothing));
    shop.ok(writer, set(11, is(ID, 1)));
    let one = Scalar::Value(Value::Int(1));
    shop.ok(reader, Query::Values(vec![one]));
    shop.ok(writer, set(12, is(ID, 1)));
    assert_eq!(pairs(&shop.ok(reader, read(is(ID, 1)))), [(1, 11)]);
}

#[test]
fn a_statement_does_not_see_what_itself_has_written() {
    let mut shop = Shop::open();
    let id = shop.session(Isolation::ReadCommitted);
    // Each new version lies behind the old ones, where the statement has yet to come.
    assert_eq!(shop.ok(id, set(5, Predicate::Always)).affected, Some(2));
    assert_eq!(shop.committed(), [(1, 5), (2, 5)]);
}

#[test]
fn an_error_undoes_the_transaction_at_once_and_commit_says_rollback() {
    let mut shop = Shop::open();
    let id = shop.session(Isolation::ReadCommitted);
    let other = shop.session(Isolation::ReadCommitted);
    shop.ok(id, begin());
    shop.ok(id, set(11, is(ID, 2)));
    assert_eq!(shop.ask(id, insert(1, 0)), Err(SqlError::UniqueViolation));
    shop.ok(other, set(12, is(ID, 2)));
    let after = shop.ask(id, read(Predicate::Always));
    assert_eq!(after, Err(SqlError::TransactionAborted));
    assert_eq!(shop.ok(id, Query::Commit).tag, Tag::Rollback);
    assert_eq!(shop.committed(), [(1, 10), (2, 12)]);
}

#[test]
fn a_savepoint_saves_the_transaction_from_an_error() {
    let mut shop = Shop::open();
    let id = shop.session(Isolation::ReadCommitted);
    shop.ok(id, begin());
    shop.ok(id, set(11, is(ID, 1)));
    shop.ok(id, Query::Savepoint("s".into()));
    shop.ok(id, insert(3, 30));
    assert_eq!(shop.ask(id, insert(1, 0)), Err(SqlError::UniqueViolation));
    shop.ok(id, Query::RollbackTo("s".into()));
    shop.ok(id, Query::Commit);
    assert_eq!(shop.committed(), [(1, 11), (2, 20)]);
}

#[test]
fn a_commit_that_did_not_wait_for_the_disk_is_lost_with_the_server_for_a_while() {
    for (later, durable_after, kept) in [
        (0, false, 10),
        (599, false, 10),
        (600, false, 11),
        (0, true, 11),
    ] {
        let mut shop = Shop::open();
        let id = shop.session(Isolation::ReadCommitted);
        let other = shop.session(Isolation::ReadCommitted);
        shop.ok(id, Query::Set(Setting::Durable(false)));
        shop.ok(id, set(11, is(ID, 1)));
        if durable_after {
            // The log is one: whoever waits for the disk takes along what is before.
            shop.ok(other, set(20, is(ID, 2)));
        }
        shop.pass(later);
        shop.server.crash(shop.now);
        assert_eq!(
            shop.committed(),
            [(1, kept), (2, 20)],
            "{later} {durable_after}"
        );
    }
}

#[test]
fn what_was_not_committed_is_gone_after_a_crash_and_the_rows_are_free() {
    let mut shop = Shop::open();
    let id = shop.session(Isolation::ReadCommitted);
    shop.ok(id, begin());
    shop.ok(id, set(11, is(ID, 1)));
    shop.server.crash(shop.now);
    assert_eq!(shop.ask(id, Query::Commit), Err(SqlError::ConnectionLost));
    let fresh = shop.session(Isolation::ReadCommitted);
    shop.ok(fresh, set(12, is(ID, 1)));
    assert_eq!(shop.committed(), [(1, 12), (2, 20)]);
}
