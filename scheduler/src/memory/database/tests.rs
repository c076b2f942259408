#![allow(clippy::unwrap_used)]
use super::*;
use crate::memory::{ManualTime, block_on};
use crate::ports::Test;
use crate::ports::{Column, RowLock};
use crate::{Span, steps};
use evidence::Ids;
use std::task::Context;

const TABLE: Table = Table(9);
const NUMBER: Column = Column(0);

fn database() -> (Arc<ManualTime>, MemoryDatabase) {
    let time = Arc::<ManualTime>::default();
    (time.clone(), MemoryDatabase::new(time))
}

fn insert(key: &str, on_conflict: OnConflict) -> Statement {
    Statement::Insert {
        table: TABLE,
        key: key.into(),
        cells: vec![Expr::from(1)],
        on_conflict,
    }
}

fn update(key: &str, when: Condition, to: Expr, required: bool) -> Statement {
    Statement::Update {
        table: TABLE,
        key: key.into(),
        when,
        set: vec![(NUMBER, to)],
        required,
    }
}

fn select(key: &str) -> Statement {
    Statement::Select {
        table: TABLE,
        key: key.into(),
        lock: RowLock::None,
    }
}

fn execute(database: &MemoryDatabase, statements: Statements) -> Answers {
    let nobody = Ids::default();
    block_on(database.execute(At::new(&steps::GUARD_ENTER, &nobody), statements)).unwrap()
}

fn number(database: &MemoryDatabase, key: &str) -> Option<i64> {
    let answers = execute(database, vec![select(key)]);
    let row = answers[0].rows().first().cloned();
    row.map(|row| row.cells[0].int())
}

#[test]
fn a_key_is_there_once() {
    let (_, database) = database();
    let inserted = execute(&database, vec![insert("a", OnConflict::Abort)]);
    assert_eq!(inserted[..], [Answer::Affected(1)]);
    let again = execute(&database, vec![insert("a", OnConflict::Ignore)]);
    assert_eq!(again[..], [Answer::Affected(0)]);
    let conflict = execute(&database, vec![insert("a", OnConflict::Abort)]);
    assert_eq!(conflict[..], [Answer::Conflict]);
}

#[test]
fn a_conflict_takes_back_the_whole_round_trip_and_skips_its_rest() {
    let (_, database) = database();
    execute(&database, vec![insert("b", OnConflict::Abort)]);
    let answers = execute(
        &database,
        vec![
            insert("a", OnConflict::Abort),
            update("b", Condition::always(), Expr::from(5), false),
            insert("b", OnConflict::Abort),
            insert("c", OnConflict::Abort),
        ],
    );
    assert_eq!(
        answers[..],
        [Answer::Affected(1), Answer::Affected(1), Answer::Conflict]
    );
    assert_eq!(number(&database, "a"), None);
    assert_eq!(number(&database, "b"), Some(1));
    assert_eq!(number(&database, "c"), None);
}

#[test]
fn a_required_update_that_changes_nothing_takes_the_round_trip_back() {
    let (_, database) = database();
    let never = Condition::all([Test::Is(NUMBER, 99)]);
    let answers = execute(
        &database,
        vec![
            insert("a", OnConflict::Abort),
            update("a", never, Expr::from(2), true),
        ],
    );
    assert_eq!(answers[..], [Answer::Affected(1), Answer::Affected(0)]);
    assert_eq!(number(&database, "a"), None);
}

#[test]
fn conditions_and_values_are_computed_from_the_row_and_the_databases_clock() {
    let (time, database) = database();
    time.advance(Span::millis(10));
    execute(&database, vec![insert("a", OnConflict::Abort)]);
    let at_most = |ms| Condition::all([Test::AtMost(NUMBER, Expr::Now { plus_ms: ms })]);
    let step = |when: Condition| {
        let change = update("a", when, Expr::Plus(NUMBER, 3), false);
        execute(&database, vec![change])[0].changed()
    };
    assert!(!step(at_most(-10)));
    assert!(step(at_most(-9)));
    assert_eq!(number(&database, "a"), Some(4));
    assert!(!step(Condition::all([Test::IsNull(NUMBER)])));
    assert!(step(Condition::all([Test::Is(NUMBER, 9)]).or_all([
        Test::Is(NUMBER, 4),
        Test::AtMost(NUMBER, Expr::from(4))
    ])));
    assert_eq!(number(&database, "a"), Some(7));
    let now = update("a", Condition::always(), Expr::Now { plus_ms: 5 }, false);
    execute(&database, vec![now]);
    assert_eq!(number(&database, "a"), Some(15));
}

#[test]
fn a_comparison_with_null_is_false() {
    let (_, database) = database();
    execute(&database, vec![insert("a", OnConflict::Abort)]);
    let null = update("a", Condition::always(), Expr::Value(Value::Null), false);
    execute(&database, vec![null]);
    for (when, holds) in [
        (Test::Is(NUMBER, 0), false),
        (Test::AtMost(NUMBER, Expr::from(i64::MAX)), false),
        (Test::IsNull(NUMBER), true),
    ] {
        let scan = Statement::Scan {
            table: TABLE,
            when: Condition::all([when]),
        };
        let answers = execute(&database, vec![scan]);
        assert_eq!(answers[0].rows().len(), usize::from(holds));
    }
}

#[test]
fn a_scan_reads_in_key_order_and_a_delete_removes() {
    let (_, database) = database();
    for key in ["c", "a", "b"] {
        execute(&database, vec![insert(key, OnConflict::Abort)]);
    }
    let delete = Statement::Delete {
        table: TABLE,
        key: "b".into(),
        when: Condition::always(),
    };
    assert_eq!(
        execute(&database, vec![delete.clone()])[..],
        [Answer::Affected(1)]
    );
    assert_eq!(execute(&database, vec![delete])[..], [Answer::Affected(0)]);
    let keys: Vec<_> = database
        .rows(TABLE)
        .iter()
        .map(|row| row.key.clone())
        .collect();
    assert_eq!(keys, ["a".into(), "c".into()]);
}

#[test]
fn a_transaction_is_undone_when_it_is_dropped_and_stays_when_it_is_committed() {
    let (_, database) = database();
    let nobody = Ids::default();
    let at = At::new(&steps::DISPATCH_CLAIM, &nobody);
    let mut dropped = database.begin(Isolation::ReadCommitted);
    block_on(dropped.execute(at, vec![insert("a", OnConflict::Abort)], false)).unwrap();
    drop(dropped);
    assert_eq!(number(&database, "a"), None);

    let mut committed = database.begin(Isolation::ReadCommitted);
    block_on(committed.execute(at, vec![insert("a", OnConflict::Abort)], false)).unwrap();
    block_on(committed.execute(at, vec![insert("b", OnConflict::Abort)], true)).unwrap();
    let after_its_end = block_on(committed.execute(at, Statements::new(), true));
    assert_eq!(after_its_end, Err(CallError::Refused));
    drop(committed);
    assert_eq!(number(&database, "a"), Some(1));
    assert_eq!(number(&database, "b"), Some(1));
}

#[test]
fn nobody_sees_or_changes_anything_while_a_transaction_is_open() {
    let (_, database) = database();
    let nobody = Ids::default();
    let at = At::new(&steps::DISPATCH_CLAIM, &nobody);
    let mut open = database.begin(Isolation::ReadCommitted);
    block_on(open.execute(at, vec![insert("a", OnConflict::Abort)], false)).unwrap();
    let mut other = database.execute(at, vec![insert("a", OnConflict::Abort)]);
    let mut context = Context::from_waker(Waker::noop());
    assert!(other.as_mut().poll(&mut context).is_pending());
    block_on(open.execute(at, Statements::new(), true)).unwrap();
    let Poll::Ready(Ok(answers)) = other.as_mut().poll(&mut context) else {
        panic!("still waiting");
    };
    assert_eq!(answers[..], [Answer::Conflict]);
}

#[test]
fn a_conflict_ends_the_transaction() {
    let (_, database) = database();
    let nobody = Ids::default();
    let at = At::new(&steps::DISPATCH_CLAIM, &nobody);
    execute(&database, vec![insert("b", OnConflict::Abort)]);
    let mut open = database.begin(Isolation::ReadCommitted);
    block_on(open.execute(at, vec![insert("a", OnConflict::Abort)], false)).unwrap();
    block_on(open.execute(at, vec![insert("b", OnConflict::Abort)], false)).unwrap();
    assert_eq!(number(&database, "a"), None);
    assert_eq!(
        block_on(open.execute(at, Statements::new(), true)),
        Err(CallError::Refused)
    );
}
