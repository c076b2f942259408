//! Values inside values: walking them, and computing subqueries before a statement runs.

use super::select;
use super::waiting::Asker;
use crate::database::evaluate::cell;
use scheduler::ports::sql::{
    Conflict, Locking, Predicate, Query, Scalar, Select, SqlError, Strength, WhenLocked,
};
use scheduler::ports::{Column, Value};

/// Every value in a value.
pub(super) fn each_part(scalar: &Scalar, see: &mut dyn FnMut(&Scalar)) {
    see(scalar);
    match scalar {
        Scalar::Combined(_, a, b) => {
            each_part(a, see);
            each_part(b, see);
        }
        Scalar::Concat(parts) => parts.iter().for_each(|part| each_part(part, see)),
        _ => {}
    }
}

/// Every value in a condition.
pub(super) fn each_scalar(predicate: &Predicate, see: &mut dyn FnMut(&Scalar)) {
    match predicate {
        Predicate::Always => {}
        Predicate::Compare(a, _, b) => {
            each_part(a, see);
            each_part(b, see);
        }
        Predicate::IsNull(scalar) => each_part(scalar, see),
        Predicate::Not(inner) => each_scalar(inner, see),
        Predicate::All(parts) | Predicate::Any(parts) => {
            parts.iter().for_each(|part| each_scalar(part, see));
        }
        Predicate::In(scalar, values) => {
            each_part(scalar, see);
            values.iter().for_each(|value| each_part(value, see));
        }
    }
}

/// The first subquery in a value.
fn in_scalar(scalar: &mut Scalar) -> Option<&mut Scalar> {
    match scalar {
        Scalar::Subquery(_) => Some(scalar),
        Scalar::Combined(_, a, b) => in_scalar(a).or_else(|| in_scalar(b)),
        Scalar::Concat(parts) => parts.iter_mut().find_map(in_scalar),
        _ => None,
    }
}

fn in_predicate(predicate: &mut Predicate) -> Option<&mut Scalar> {
    match predicate {
        Predicate::Always => None,
        Predicate::Compare(a, _, b) => in_scalar(a).or_else(|| in_scalar(b)),
        Predicate::IsNull(scalar) => in_scalar(scalar),
        Predicate::Not(inner) => in_predicate(inner),
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter_mut().find_map(in_predicate),
        Predicate::In(scalar, values) => {
            in_scalar(scalar).or_else(|| values.iter_mut().find_map(in_scalar))
        }
    }
}

fn in_set(set: &mut [(Column, Scalar)]) -> Option<&mut Scalar> {
    set.iter_mut().find_map(|(_, scalar)| in_scalar(scalar))
}

fn in_query(query: &mut Query) -> Option<&mut Scalar> {
    match query {
        Query::Select(select) => in_predicate(&mut select.filter),
        Query::Update(update) => {
            in_set(&mut update.set).or_else(|| in_predicate(&mut update.filter))
        }
        Query::Delete(delete) => in_predicate(&mut delete.filter),
        Query::Insert(insert) => {
            let rows = insert.rows.iter_mut().flatten();
            let in_rows = rows.into_iter().find_map(in_scalar);
            in_rows.or_else(|| match &mut insert.conflict {
                Conflict::Update { set, .. } => in_set(set),
                _ => None,
            })
        }
        _ => None,
    }
}

/// Puts values in the place of a statement's subqueries. In a statement that changes rows they lock
/// what they read, unless the level is READ COMMITTED or below.
pub(super) async fn resolve(asker: &Asker, query: &mut Query) -> Result<(), SqlError> {
    let changes = !matches!(query, Query::Select(_));
    while let Some(scalar) = in_query(query) {
        let Scalar::Subquery(inner) = scalar else {
            return Ok(());
        };
        let mut inner = inner.clone();
        let gaps = select::locks_gaps(asker);
        if changes && gaps && inner.locking.is_none() {
            inner.locking = Some(Locking {
                strength: Strength::Share,
                when_locked: WhenLocked::Wait,
            });
        }
        *scalar = Scalar::Value(first_value(asker, *inner).await?);
    }
    Ok(())
}

async fn first_value(asker: &Asker, select: Select) -> Result<Value, SqlError> {
    let mut query = Query::Select(select);
    Box::pin(resolve(asker, &mut query)).await?;
    let Query::Select(select) = query else {
        return Ok(Value::Null);
    };
    let rows = select::rows(asker, &select).await?;
    let first = rows.first().map(|row| cell(row, Column(0)));
    Ok(first.unwrap_or_default())
}
