//! By which index a statement finds its rows: what MariaDB's optimizer chooses on small tables.
//!
//! Measured with EXPLAIN on tables of one to four rows: a unique index whose columns all have a
//! value is taken always; another index with a value for its first columns too, unless it gives so many
//! rows that a scan is cheaper and the rows themselves are needed; then a list of values, then a range;
//! then all rows, by the shortest index that has all that is needed.

use super::Store;
use super::records::{Key, Row, TableStore};
use crate::database::evaluate::Scope;
use crate::database::values::compare;
use scheduler::ports::sql::{Comparison, Order, Output, Predicate, Scalar, Type};
use scheduler::ports::{Column, Table, Value};
use std::collections::BTreeMap;

/// A part of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The one record that a unique index has with this key.
    Point(Key),
    /// The records that begin with these values.
    Equal(Key),
    /// The records whose first value is between these; each with whether it is included.
    Between {
        low: Option<(Value, bool)>,
        high: Option<(Value, bool)>,
    },
}

/// How a statement finds its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The index's number.
    pub(super) index: usize,
    /// The parts of the index, one after the other; none: no row can be meant.
    pub(super) reaches: Vec<Reach>,
    /// Whether the index is read from its end.
    pub(super) backward: bool,
    /// Whether the rows come in the order that is asked for.
    pub(super) ordered: bool,
    /// Whether the index has all that a plain read needs.
    pub(super) covering: bool,
}

/// What a plan is made for.
pub(super) struct Purpose<'a> {
    pub(super) table: Table,
    pub(super) filter: &'a Predicate,
    pub(super) order: &'a [Order],
    pub(super) limited: bool,
    /// What a SELECT gives; `None`: the rows are changed.
    pub(super) output: Option<&'a Output>,
}

/// What is known of a column: values that it has to be one of, and between which it has to be.
#[derive(Clone, Debug, Default)]
struct Known {
    equal: Option<Value>,
    among: Option<Vec<Value>>,
    low: Option<(Value, bool)>,
    high: Option<(Value, bool)>,
}

impl Known {
    /// Whether the range has no value in it.
    fn is_empty(&self) -> bool {
        let (Some((low, from)), Some((high, to))) = (&self.low, &self.high) else {
            return false;
        };
        low > high || (low == high && !(*from && *to))
    }
}

/// Makes the plan. `scope` computes what does not depend on a row.
pub(super) fn plan(store: &Store, scope: &Scope<'_>, purpose: &Purpose<'_>) -> Plan {
    let table = &store.tables[&purpose.table];
    let mut known = BTreeMap::new();
    let possible = learn(table, scope, purpose.filter, &mut known);
    let (index, reaches) = match possible {
        false => (0, Vec::new()),
        true => choose(table, purpose, &known),
    };
    let all = matches!(
        reaches.as_slice(),
        [Reach::Between {
            low: None,
            high: None
        }]
    );
    let one = |reach: &Reach| matches!(reach, Reach::Point(_));
    let single = reaches.len() <= 1 && reaches.iter().all(one);
    let same = matches!(reaches.as_slice(), [Reach::Equal(key)]
        if key.len() == table.indexes[index].columns.len());
    let by = if same { 0 } else { index };
    let forward = follows(table, by, purpose.order, false);
    let backward = !forward && all && follows(table, by, purpose.order, true);
    Plan {
        index,
        backward,
        ordered: single || forward || backward,
        covering: index > 0 && covers(table, index, &needed(purpose)),
        reaches,
    }
}

/// Whether an index gives its rows in this order (or in the opposite one).
fn follows(table: &TableStore, index: usize, order: &[Order], reverse: bool) -> bool {
    let columns = &table.indexes[index].columns;
    order.len() <= columns.len().max(1)
        && order
            .iter()
            .enumerate()
            .all(|(at, by)| columns.get(at) == Some(&by.column) && by.descending == reverse)
}

fn choose(
    table: &TableStore,
    purpose: &Purpose<'_>,
    known: &BTreeMap<Column, Known>,
) -> (usize, Vec<Reach>) {
    let equal = |column: &Column| known.get(column).and_then(|known| known.equal.clone());
    let whole_key = |number: usize| -> Option<Key> {
        let key: Option<Key> = table.indexes[number].columns.iter().map(equal).collect();
        key.filter(|key| !key.is_empty())
    };
    if let (None, Some(primary)) = (purpose.output, whole_key(0)) {
        // A change takes the secondary index, whose entries have the primary key in them.
        for number in 1..table.indexes.len() {
            let Some(mut key) = whole_key(number) else {
                continue;
            };
            if table.indexes[number].unique {
                return (number, vec![Reach::Point(key)]);
            }
            key.extend(primary);
            return (number, vec![Reach::Equal(key)]);
        }
    }
    for (number, index) in table.indexes.iter().enumerate() {
        if let Some(key) = whole_key(number).filter(|_| index.unique) {
            return (number, vec![Reach::Point(key)]);
        }
    }
    for (number, index) in table.indexes.iter().enumerate() {
        let key: Key = index.columns.iter().map_while(equal).collect();
        let reach = Reach::Equal(key.clone());
        if !key.is_empty() && worth(table, purpose, number, &reach) {
            return (number, vec![reach]);
        }
    }
    for (number, index) in table.indexes.iter().enumerate() {
        let Some(known) = index.columns.first().and_then(|first| known.get(first)) else {
            continue;
        };
        if let (Some(among), true) = (&known.among, index.unique && index.columns.len() == 1)
            && worth_points(table, purpose, number, among.len())
        {
            let point = |value: &Value| Reach::Point(vec![value.clone()]);
            return (number, among.iter().map(point).collect());
        }
        let (low, high) = (known.low.clone(), known.high.clone());
        let some = low.is_some() || high.is_some();
        let reach = Reach::Between { low, high };
        if some && (number == 0 || worth(table, purpose, number, &reach)) {
            return (number, vec![reach]);
        }
    }
    let all = Reach::Between {
        low: None,
        high: None,
    };
    (whole(table, purpose), vec![all])
}

/// Whether a statement goes by a secondary index rather than over all rows. A record costs 1.2
/// by way of the index, a row 0.2 in a scan, and a scan costs between 2.8 and 3.0 more to begin with:
/// the bounds that EXPLAIN leaves on tables of up to seven rows.
fn worth(table: &TableStore, purpose: &Purpose<'_>, number: usize, reach: &Reach) -> bool {
    let covering = purpose.output.is_some() && covers(table, number, &needed(purpose));
    if covering || purpose.limited {
        return true;
    }
    let records = &table.indexes[number].records;
    let within = records.iter().filter(|(key, _)| reach.holds(key)).count();
    let rows = rows_of(table);
    // No part of an index is taken for larger than the table, whatever is marked in it.
    12 * within.min(rows) < 2 * rows + 29
}

/// Whether a list of values is looked up one by one rather than among all rows, which costs the same
/// as above; a read of nothing but the primary key goes over all of it.
fn worth_points(table: &TableStore, purpose: &Purpose<'_>, number: usize, values: usize) -> bool {
    let primary = &table.indexes[0].columns;
    let only_keys = purpose.output.is_some()
        && purpose.order.is_empty()
        && needed(purpose)
            .iter()
            .all(|column| primary.contains(column));
    values < 2 || (!(number == 0 && only_keys) && 12 * values < 2 * rows_of(table) + 27)
}

/// How many rows the optimizer takes a table for. A row counts from when it is in every index.
fn rows_of(table: &TableStore) -> usize {
    let whole = |primary: &Key, row: &Row| {
        (1..table.indexes.len()).all(|number| table.has_entry(number, row, primary))
    };
    let rows = table.indexes[0].records.iter().filter(|(key, record)| {
        let newest = record.versions.last();
        newest.is_some_and(|newest| !newest.deleted && whole(key, &newest.row))
    });
    rows.count()
}

/// The index by which all rows are read.
fn whole(table: &TableStore, purpose: &Purpose<'_>) -> usize {
    if purpose.output.is_none() || !purpose.order.is_empty() {
        return 0;
    }
    let needed = needed(purpose);
    let shortest = (1..table.indexes.len()).find(|number| covers(table, *number, &needed));
    let primary = &table.indexes[0].columns;
    match shortest {
        // An index as wide as the row is no shorter than the row.
        Some(number)
            if table.indexes[number].columns.len() + primary.len() >= table.columns.len()
                && needed.iter().all(|column| primary.contains(column)) =>
        {
            0
        }
        Some(number) => number,
        None => 0,
    }
}

fn covers(table: &TableStore, number: usize, needed: &[Column]) -> bool {
    let own = &table.indexes[number].columns;
    let primary = &table.indexes[0].columns;
    needed
        .iter()
        .all(|column| own.contains(column) || primary.contains(column))
}

/// The columns that a SELECT needs.
fn needed(purpose: &Purpose<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> = purpose.order.iter().map(|by| by.column).collect();
    let mut add = |scalar: &Scalar| {
        if let Scalar::Column(column) = scalar {
            columns.push(*column);
        }
    };
    super::subquery::each_scalar(purpose.filter, &mut add);
    if let Some(Output::Each(scalars)) = purpose.output {
        for scalar in scalars {
            super::subquery::each_part(scalar, &mut add);
        }
    }
    columns
}

impl Reach {
    /// Whether a record is inside.
    pub(super) fn holds(&self, key: &Key) -> bool {
        match self {
            Reach::Point(start) | Reach::Equal(start) => key.starts_with(start),
            Reach::Between { low, high } => {
                let first = &key[0];
                let above = low
                    .as_ref()
                    .is_none_or(|(low, included)| first > low || (*included && first == low));
                above && self.is_before_end(key) && (high.is_none() || *first != Value::Null)
            }
        }
    }

    /// Whether a record is not behind the end.
    pub(super) fn is_before_end(&self, key: &Key) -> bool {
        match self {
            Reach::Point(_) | Reach::Equal(_) => self.holds(key),
            Reach::Between { high, .. } => high
                .as_ref()
                .is_none_or(|(high, included)| key[0] < *high || (*included && key[0] == *high)),
        }
    }
}

/// Learns what a condition says of columns; false: it can never hold.
fn learn(
    table: &TableStore,
    scope: &Scope<'_>,
    filter: &Predicate,
    known: &mut BTreeMap<Column, Known>,
) -> bool {
    match filter {
        Predicate::All(all) => all.iter().all(|one| learn(table, scope, one, known)),
        Predicate::Compare(a, how, b) => {
            let (column, how, other) = match (a, b) {
                (Scalar::Column(column), other) => (*column, *how, other),
                (other, Scalar::Column(column)) => (*column, mirrored(*how), other),
                _ => return true,
            };
            let Some(value) = constant(table, scope, column, other) else {
                return true;
            };
            if value == Value::Null {
                return false;
            }
            let known = known.entry(column).or_default();
            note(known, how, value);
            // Between a value and itself is that value.
            if let (Some((low, true)), Some((high, true))) = (&known.low, &known.high)
                && low == high
            {
                known.equal = Some(low.clone());
            }
            !known.is_empty()
        }
        Predicate::Any(any) => {
            if let Some((column, values)) = one_of(table, scope, any) {
                known.entry(column).or_default().among = Some(values);
            }
            true
        }
        Predicate::In(Scalar::Column(column), values) => {
            let values: Option<Vec<Value>> = values
                .iter()
                .map(|value| constant(table, scope, *column, value))
                .collect();
            if let Some(mut values) = values {
                values.retain(|value| *value != Value::Null);
                values.sort();
                values.dedup();
                known.entry(*column).or_default().among = Some(values);
            }
            true
        }
        _ => true,
    }
}

/// `c = 1 OR c = 2` is a list of values.
fn one_of(
    table: &TableStore,
    scope: &Scope<'_>,
    any: &[Predicate],
) -> Option<(Column, Vec<Value>)> {
    let mut of = None;
    let mut values = Vec::with_capacity(any.len());
    for one in any {
        let (column, other) = match one {
            Predicate::Compare(Scalar::Column(column), Comparison::Equal, other)
            | Predicate::Compare(other, Comparison::Equal, Scalar::Column(column)) => {
                (*column, other)
            }
            _ => return None,
        };
        if *of.get_or_insert(column) != column {
            return None;
        }
        values.push(constant(table, scope, column, other)?);
    }
    values.retain(|value| *value != Value::Null);
    values.sort();
    values.dedup();
    Some((of?, values))
}

fn note(known: &mut Known, how: Comparison, value: Value) {
    match how {
        Comparison::Equal => known.equal = Some(value),
        Comparison::NotEqual => {}
        Comparison::Less => known.high = Some((value, false)),
        Comparison::AtMost => known.high = Some((value, true)),
        Comparison::Greater => known.low = Some((value, false)),
        Comparison::AtLeast => known.low = Some((value, true)),
    }
}

const fn mirrored(how: Comparison) -> Comparison {
    match how {
        Comparison::Equal => Comparison::Equal,
        Comparison::NotEqual => Comparison::NotEqual,
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
    }
}

/// What a column is compared with, as its index keeps it; `None` where an index is of no use: the
/// value depends on the row, or the column is a text and the value a number.
fn constant(
    table: &TableStore,
    scope: &Scope<'_>,
    column: Column,
    scalar: &Scalar,
) -> Option<Value> {
    let mut of_row = false;
    super::subquery::each_part(scalar, &mut |part| {
        of_row |= matches!(part, Scalar::Column(_) | Scalar::Excluded(_));
    });
    if of_row {
        return None;
    }
    let kind = table.columns.get(usize::from(column.0))?.kind;
    let value = scope.value(scalar);
    match (&value, kind) {
        (Value::Null, _) => Some(Value::Null),
        (Value::Int(_), Type::Text { .. }) => None,
        (Value::Text(text), Type::Int) => text.parse().ok().map(Value::Int),
        (Value::Text(_), Type::Time { .. }) => {
            let at = crate::database::values::moment(&value, kind)?;
            debug_assert!(compare(&at, &value, Some(kind)).is_some_and(|o| o.is_eq()));
            Some(at)
        }
        _ => Some(table.folded(column, &value)),
    }
}
