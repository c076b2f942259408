//! Keyed statements as the SQL that a real server would be sent.
//!
//! A table of the pipeline has its key as primary key, then the columns of its rows, and at the
//! end the slot whose run wrote the row last: hidden truth, which no condition reads.

use crate::servers::database::Stored;
use evidence::{Slot, SlotTag};
use scheduler::ports::sql::{
    Arithmetic, Collation, ColumnDef, Comparison, Conflict, Delete, IndexDef, Insert, Locking,
    Order, Output, Predicate, Query, Scalar, Select, Strength, TableDef, Type, Update, WhenLocked,
};
use scheduler::ports::{
    Cells, Column, Condition, Expr, Key, OnConflict, Row, RowLock, Statement, Table, Test, Value,
};
use scheduler::tables::COLUMNS;
use servers::database::Flavor;

/// The longest key: what the pipeline's identifiers are limited to.
const KEY_CHARS: u32 = 191;

/// How many columns of its own a table has.
fn width(table: Table) -> u8 {
    COLUMNS.get(usize::from(table.0)).copied().unwrap_or(0)
}

fn slot_column(table: Table) -> Column {
    Column(width(table) + 1)
}

/// A column of the pipeline's, behind the key.
const fn shifted(column: Column) -> Column {
    Column(column.0 + 1)
}

/// The table as the server is told of it.
pub(super) fn definition(flavor: Flavor, table: Table) -> TableDef {
    let collation = match flavor {
        Flavor::Postgres => Collation::Binary,
        Flavor::MariaDb => Collation::GeneralCi,
    };
    let column = |kind, nullable| ColumnDef {
        kind,
        nullable,
        counts: false,
        default: Value::Null,
    };
    let key = Type::Text {
        max_chars: KEY_CHARS,
        collation,
    };
    let others = (0..=width(table)).map(|_| column(Type::Any, true));
    TableDef {
        columns: std::iter::once(column(key, false)).chain(others).collect(),
        indexes: vec![IndexDef {
            columns: vec![Column(0)],
            unique: true,
            primary: true,
            nulls_equal: false,
        }],
    }
}

/// What the server is asked for a statement.
pub(super) fn query(flavor: Flavor, statement: &Statement, slot: SlotTag) -> Query {
    match statement {
        Statement::Insert {
            table,
            key,
            cells,
            on_conflict,
        } => Query::Insert(insert(flavor, *table, key, cells, *on_conflict, slot)),
        Statement::Update {
            table,
            key,
            when,
            set,
            ..
        } => Query::Update(update(*table, key, when, set, slot)),
        Statement::Select { table, key, lock } => Query::Select(Select {
            locking: match lock {
                RowLock::None => None,
                RowLock::ForUpdate => Some(WhenLocked::Wait),
                RowLock::SkipLocked => Some(WhenLocked::Skip),
            }
            .map(|when_locked| Locking {
                strength: Strength::Update,
                when_locked,
            }),
            ..select(*table, is_key(key))
        }),
        Statement::Scan { table, when } => Query::Select(select(*table, condition(when))),
        Statement::Take { table, when, set } => Query::Update(Update {
            filter: condition(when),
            order: by_key(),
            limit: Some(1),
            returning: Some(everything(*table)),
            ..update(*table, &Key::from(""), when, set, slot)
        }),
        Statement::Delete { table, key, when } => Query::Delete(Delete {
            table: *table,
            filter: both(key, when),
            order: Vec::new(),
            limit: None,
            returning: None,
        }),
    }
}

fn insert(
    flavor: Flavor,
    table: Table,
    key: &Key,
    cells: &[Expr],
    on_conflict: OnConflict,
    slot: SlotTag,
) -> Insert {
    let mut row = vec![Scalar::Value(Value::Text(key.clone()))];
    row.extend(cells.iter().map(scalar));
    let mut columns: Vec<Column> = (0..row.len()).map(|place| Column(place as u8)).collect();
    columns.push(slot_column(table));
    row.push(Scalar::Value(sealed(slot)));
    Insert {
        table,
        columns,
        rows: vec![row],
        from_select: false,
        conflict: match (on_conflict, flavor) {
            (OnConflict::Abort, _) => Conflict::Error,
            (OnConflict::Ignore, Flavor::Postgres) => Conflict::Nothing { target: None },
            (OnConflict::Ignore, Flavor::MariaDb) => Conflict::Ignore,
        },
        returning: None,
    }
}

/// Puts a row there as it was.
pub(super) fn restored(flavor: Flavor, table: Table, key: &Key, row: &Stored) -> Query {
    let cells: Vec<Expr> = row.cells.iter().cloned().map(Expr::Value).collect();
    Query::Insert(insert(
        flavor,
        table,
        key,
        &cells,
        OnConflict::Abort,
        row.slot,
    ))
}

fn update(
    table: Table,
    key: &Key,
    when: &Condition,
    set: &[(Column, Expr)],
    slot: SlotTag,
) -> Update {
    let mut set: Vec<(Column, Scalar)> = set
        .iter()
        .map(|(column, value)| (shifted(*column), scalar(value)))
        .collect();
    // A row that nobody's run has written belongs to nobody's slot.
    if slot != SlotTag::NONE {
        set.push((slot_column(table), Scalar::Value(sealed(slot))));
    }
    Update {
        table,
        set,
        filter: both(key, when),
        order: Vec::new(),
        limit: None,
        returning: None,
    }
}

fn select(table: Table, filter: Predicate) -> Select {
    Select {
        table,
        output: Output::Each(everything(table)),
        filter,
        order: by_key(),
        limit: None,
        locking: None,
    }
}

/// Every column, the slot included.
fn everything(table: Table) -> Vec<Scalar> {
    (0..=slot_column(table).0)
        .map(|place| Scalar::Column(Column(place)))
        .collect()
}

fn by_key() -> Vec<Order> {
    vec![Order {
        column: Column(0),
        descending: false,
    }]
}

fn is_key(key: &Key) -> Predicate {
    let key = Scalar::Value(Value::Text(key.clone()));
    Predicate::Compare(Scalar::Column(Column(0)), Comparison::Equal, key)
}

fn both(key: &Key, when: &Condition) -> Predicate {
    Predicate::All(vec![is_key(key), condition(when)])
}

fn condition(when: &Condition) -> Predicate {
    let lists: Vec<Predicate> = when
        .lists()
        .map(|tests| Predicate::All(tests.map(test).collect()))
        .collect();
    if lists.is_empty() {
        Predicate::Always
    } else {
        Predicate::Any(lists)
    }
}

fn test(test: &Test) -> Predicate {
    let of = |column: &Column| Scalar::Column(shifted(*column));
    match test {
        Test::Is(column, number) => Predicate::Compare(
            of(column),
            Comparison::Equal,
            Scalar::Value(Value::Int(*number)),
        ),
        Test::AtMost(column, most) => {
            Predicate::Compare(of(column), Comparison::AtMost, scalar(most))
        }
        Test::IsNull(column) => Predicate::IsNull(of(column)),
    }
}

fn scalar(expr: &Expr) -> Scalar {
    let plus = |scalar, add| {
        let add = Box::new(Scalar::Value(Value::Int(add)));
        Scalar::Combined(Arithmetic::Add, Box::new(scalar), add)
    };
    match expr {
        Expr::Value(value) => Scalar::Value(value.clone()),
        Expr::Now { plus_ms } => plus(Scalar::Now, *plus_ms),
        Expr::Plus(column, add) => plus(Scalar::Column(shifted(*column)), *add),
    }
}

/// A slot as a number: the timer above, the ordinal below.
fn sealed(slot: SlotTag) -> Value {
    match slot.truth() {
        Some(slot) => Value::Int(i64::from(slot.timer) << 32 | i64::from(slot.ordinal)),
        None => Value::Null,
    }
}

fn unsealed(value: &Value) -> SlotTag {
    match value {
        Value::Int(number) => SlotTag::seal(Slot {
            timer: (number >> 32) as u16,
            ordinal: *number as u32,
        }),
        _ => SlotTag::NONE,
    }
}

/// A row that the server gave: the key, the pipeline's columns, the slot.
pub(super) fn row(table: Table, values: &[Value]) -> Option<Row> {
    let Some(Value::Text(key)) = values.first() else {
        return None;
    };
    let end = usize::from(slot_column(table).0);
    Some(Row {
        key: key.clone(),
        cells: values.get(1..end)?.iter().cloned().collect::<Cells>(),
        slot: unsealed(values.get(end)?),
    })
}
