//! Finds the subqueries of a condition or a value, and puts values in their place.

use scheduler::ports::Value;
use scheduler::ports::sql::{Predicate, Scalar, Select};

/// The subqueries of a condition, from left to right.
pub(super) fn of_predicate(predicate: &mut Predicate) -> Vec<Select> {
    let mut found = Vec::new();
    in_predicate(predicate, &mut |scalar| collect(scalar, &mut found));
    found
}

/// The subqueries of a value, from left to right.
pub(super) fn of_scalar(scalar: &mut Scalar) -> Vec<Select> {
    let mut found = Vec::new();
    in_scalar(scalar, &mut |scalar| collect(scalar, &mut found));
    found
}

/// Puts values in the place of a condition's subqueries, from left to right.
pub(super) fn fill_predicate(predicate: &mut Predicate, values: Vec<Value>) {
    let mut values = values.into_iter();
    in_predicate(predicate, &mut |scalar| put(scalar, &mut values));
}

/// Puts values in the place of a value's subqueries, from left to right.
pub(super) fn fill_scalar(scalar: &mut Scalar, values: Vec<Value>) {
    let mut values = values.into_iter();
    in_scalar(scalar, &mut |scalar| put(scalar, &mut values));
}

fn collect(scalar: &Scalar, found: &mut Vec<Select>) {
    if let Scalar::Subquery(select) = scalar {
        found.push((**select).clone());
    }
}

fn put(scalar: &mut Scalar, values: &mut impl Iterator<Item = Value>) {
    if let Scalar::Subquery(_) = scalar {
        *scalar = Scalar::Value(values.next().unwrap_or_default());
    }
}

fn in_predicate(predicate: &mut Predicate, visit: &mut dyn FnMut(&mut Scalar)) {
    match predicate {
        Predicate::Always => {}
        Predicate::Compare(a, _, b) => {
            in_scalar(a, visit);
            in_scalar(b, visit);
        }
        Predicate::IsNull(scalar) => in_scalar(scalar, visit),
        Predicate::Not(inner) => in_predicate(inner, visit),
        Predicate::All(several) | Predicate::Any(several) => {
            for one in several {
                in_predicate(one, visit);
            }
        }
        Predicate::In(scalar, values) => {
            in_scalar(scalar, visit);
            for value in values {
                in_scalar(value, visit);
            }
        }
    }
}

fn in_scalar(scalar: &mut Scalar, visit: &mut dyn FnMut(&mut Scalar)) {
    visit(scalar);
    match scalar {
        Scalar::Combined(_, a, b) => {
            in_scalar(a, visit);
            in_scalar(b, visit);
        }
        Scalar::Concat(parts) => {
            for part in parts {
                in_scalar(part, visit);
            }
        }
        _ => {}
    }
}
