//! The way to the rows, held against EXPLAIN of PostgreSQL 15.

use super::super::plan::{Plan, Way, plan};
use scheduler::ports::sql::{
    Collation, ColumnDef, Comparison, IndexDef, Order, Predicate, Scalar, TableDef, Type,
};
use scheduler::ports::{Column, Value};

const ID: Column = Column(0);
const OTHER: Column = Column(1);

fn table(other: Type, index_on_other: bool) -> TableDef {
    let column = |kind| ColumnDef {
        kind,
        nullable: true,
        counts: false,
        default: Value::Null,
    };
    let index = |column, unique| IndexDef {
        columns: vec![column],
        unique,
        primary: unique,
        nulls_equal: false,
    };
    let mut indexes = vec![index(ID, true)];
    if index_on_other {
        indexes.push(index(OTHER, false));
    }
    TableDef {
        columns: vec![column(Type::Int), column(other)],
        indexes,
    }
}

fn is(column: Column, how: Comparison) -> Predicate {
    Predicate::Compare(Scalar::Column(column), how, Scalar::Value(Value::Int(1)))
}

fn by(column: Column) -> Vec<Order> {
    vec![Order {
        column,
        descending: false,
    }]
}

/// What EXPLAIN says of (id INT PRIMARY KEY, value INT).
#[test]
fn the_way_is_the_one_that_explain_tells() {
    let index = Way::Index {
        index: 0,
        backward: false,
    };
    let bitmap = Way::Bitmap { indexes: vec![0] };
    let or = |a, b| Predicate::Any(vec![a, b]);
    let (equal, greater) = (Comparison::Equal, Comparison::Greater);
    let cases = [
        (Predicate::Always, vec![], None, Way::Table, false),
        (Predicate::Always, by(ID), None, index.clone(), false),
        (Predicate::Always, by(OTHER), None, Way::Table, true),
        (is(ID, equal), vec![], None, index.clone(), false),
        (
            is(ID, Comparison::NotEqual),
            vec![],
            None,
            Way::Table,
            false,
        ),
        (is(ID, greater), vec![], None, bitmap.clone(), false),
        (is(ID, greater), by(ID), None, index.clone(), false),
        (is(OTHER, equal), vec![], None, Way::Table, false),
        (is(OTHER, equal), by(ID), None, Way::Table, true),
        (is(OTHER, equal), by(ID), Some(2), index.clone(), false),
        (is(OTHER, equal), by(ID), Some(5), Way::Table, true),
        (is(OTHER, greater), by(ID), None, Way::Table, true),
        (is(OTHER, greater), by(ID), Some(100), index, false),
        (
            or(is(ID, equal), is(OTHER, equal)),
            vec![],
            None,
            Way::Table,
            false,
        ),
    ];
    let table = table(Type::Int, false);
    for (filter, order, limit, way, sorts) in cases {
        let found = plan(&table, &filter, &order, limit);
        assert_eq!(found, Plan { way, sorts }, "{filter:?} {order:?} {limit:?}");
    }
    let several = plan(&table, &or(is(ID, equal), is(ID, equal)), &[], None);
    let way = Way::Bitmap {
        indexes: vec![0, 0],
    };
    assert_eq!(several, Plan { way, sorts: false });
}

#[test]
fn an_index_that_is_not_unique_is_gone_through_before_the_table() {
    let found = plan(
        &table(Type::Int, true),
        &is(OTHER, Comparison::Equal),
        &[],
        None,
    );
    assert_eq!(found.way, Way::Bitmap { indexes: vec![1] });
}

#[test]
fn wide_rows_are_few_and_then_all_of_the_table_is_cheap() {
    let text = Type::Text {
        max_chars: 64,
        collation: Collation::Binary,
    };
    let found = plan(&table(text, false), &Predicate::Always, &by(ID), None);
    assert_eq!(
        found,
        Plan {
            way: Way::Table,
            sorts: true
        }
    );
}
