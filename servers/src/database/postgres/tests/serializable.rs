//! SERIALIZABLE: which orders are refused, and which are not.

use super::shop::{ID, Shop, begin, insert, is, pairs, read, set};
use scheduler::ports::Isolation::{RepeatableRead, Serializable};
use scheduler::ports::sql::{Predicate, Query, SqlError};

#[test]
fn write_skew_is_refused_at_the_second_commit() {
    for (isolation, second) in [
        (RepeatableRead, Ok(())),
        (Serializable, Err(SqlError::SerializationFailure)),
    ] {
        let mut shop = Shop::open();
        let [a, b] = [(); 2].map(|()| shop.session(isolation));
        for (id, key) in [(a, 1), (b, 2)] {
            shop.ok(id, begin());
            shop.ok(id, read(Predicate::Always));
            shop.ok(id, set(0, is(ID, key)));
        }
        shop.ok(a, Query::Commit);
        assert_eq!(shop.ask(b, Query::Commit).map(|_| ()), second);
    }
}

#[test]
fn a_key_that_both_found_missing_is_a_failure_and_not_a_duplicate() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(Serializable));
    for id in [a, b] {
        shop.ok(id, begin());
        assert_eq!(pairs(&shop.ok(id, read(is(ID, 3)))), []);
    }
    shop.ok(a, insert(3, 30));
    shop.waits(b, insert(3, 31), &[a]);
    shop.ok(a, Query::Commit);
    assert_eq!(shop.answer(b), Err(SqlError::SerializationFailure));
}

#[test]
fn a_key_that_nobody_looked_for_is_a_duplicate() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(Serializable));
    shop.ok(a, begin());
    shop.ok(a, insert(3, 30));
    shop.waits(b, insert(3, 31), &[a]);
    shop.ok(a, Query::Commit);
    assert_eq!(shop.answer(b), Err(SqlError::UniqueViolation));
}

#[test]
fn one_who_reads_and_one_who_writes_are_no_circle() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(Serializable));
    shop.ok(a, begin());
    shop.ok(b, begin());
    shop.ok(a, read(Predicate::Always));
    shop.ok(b, set(0, is(ID, 1)));
    shop.ok(b, Query::Commit);
    assert_eq!(
        pairs(&shop.ok(a, read(Predicate::Always))),
        [(1, 10), (2, 20)]
    );
    shop.ok(a, Query::Commit);
}

#[test]
fn who_began_after_the_end_of_a_reader_is_not_in_its_way() {
    let mut shop = Shop::open();
    let [a, b] = [(); 2].map(|()| shop.session(Serializable));
    for id in [a, b] {
        shop.ok(id, begin());
        shop.ok(id, read(Predicate::Always));
        shop.ok(id, set(0, is(ID, 1)));
        shop.ok(id, Query::Commit);
    }
}

#[test]
fn a_reader_who_writes_nothing_may_be_refused_while_it_reads() {
    // The batch of the textbook: a report that misses an order which then turns up in a closed
    // batch.
    let mut shop = Shop::open();
    let [order, close, report] = [(); 3].map(|()| shop.session(Serializable));
    shop.ok(order, begin());
    shop.ok(order, read(is(ID, 1)));
    shop.ok(close, begin());
    shop.ok(close, set(11, is(ID, 1)));
    shop.ok(close, Query::Commit);
    shop.ok(report, begin());
    shop.ok(report, read(Predicate::Always));
    // The report saw the closed batch, and comes before the order.
    let refused = shop.ask(order, set(0, is(ID, 2)));
    assert_eq!(refused, Err(SqlError::SerializationFailure));
    shop.ok(report, Query::Commit);
}
