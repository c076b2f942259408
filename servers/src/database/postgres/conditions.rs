//! A condition taken apart, as an index sees it.

use scheduler::ports::Column;
use scheduler::ports::sql::{Comparison, Predicate, Scalar};

/// What one part of a condition asks, and how many of the rows it is likely to leave, as
/// PostgreSQL guesses of a table that it knows nothing about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Test {
    Equal,
    Less,
    Greater,
    Null,
    /// One of so many values.
    In(usize),
}

/// A part that an index of its column can answer.
#[derive(Clone, Debug)]
pub(super) struct Indexable<'a> {
    pub(super) column: Column,
    pub(super) test: Test,
    pub(super) predicate: &'a Predicate,
}

/// The share of the rows that has one value: there are 200 values, says who knows nothing.
const ONE_OF_MANY: f64 = 0.005;
/// The share that is on one side of a value.
const ONE_SIDE: f64 = 1.0 / 3.0;

impl Test {
    pub(super) fn share(self) -> f64 {
        match self {
            Test::Equal | Test::Null => ONE_OF_MANY,
            Test::Less | Test::Greater => ONE_SIDE,
            Test::In(values) => {
                let values = i32::try_from(values).unwrap_or(i32::MAX);
                1.0 - (1.0 - ONE_OF_MANY).powi(values)
            }
        }
    }
}

/// The parts that all have to hold.
pub(super) fn parts(predicate: &Predicate) -> Vec<&Predicate> {
    match predicate {
        Predicate::Always => Vec::new(),
        Predicate::All(all) => all.iter().flat_map(parts).collect(),
        other => vec![other],
    }
}

/// The part as an index sees it; `None`: no index can answer it.
pub(super) fn indexable(predicate: &Predicate) -> Option<Indexable<'_>> {
    let (column, test) = match predicate {
        Predicate::Compare(Scalar::Column(column), how, value) if is_constant(value) => {
            (*column, test(*how, false)?)
        }
        Predicate::Compare(value, how, Scalar::Column(column)) if is_constant(value) => {
            (*column, test(*how, true)?)
        }
        Predicate::IsNull(Scalar::Column(column)) => (*column, Test::Null),
        Predicate::In(Scalar::Column(column), values) if values.iter().all(is_constant) => (
            *column,
            if values.len() == 1 {
                Test::Equal
            } else {
                Test::In(values.len())
            },
        ),
        _ => return None,
    };
    Some(Indexable {
        column,
        test,
        predicate,
    })
}

const fn test(how: Comparison, turned: bool) -> Option<Test> {
    match (how, turned) {
        (Comparison::Equal, _) => Some(Test::Equal),
        (Comparison::NotEqual, _) => None,
        (Comparison::Less | Comparison::AtMost, false)
        | (Comparison::Greater | Comparison::AtLeast, true) => Some(Test::Less),
        (Comparison::Less | Comparison::AtMost, true)
        | (Comparison::Greater | Comparison::AtLeast, false) => Some(Test::Greater),
    }
}

fn is_constant(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Column(_) | Scalar::Clock | Scalar::Sleep(_) => false,
        Scalar::Combined(_, a, b) => is_constant(a) && is_constant(b),
        Scalar::Concat(parts) => parts.iter().all(is_constant),
        _ => true,
    }
}

/// How many operators have to be computed for it.
pub(super) fn operators(predicate: &Predicate) -> f64 {
    match predicate {
        Predicate::Always => 0.0,
        Predicate::Compare(a, _, b) => 1.0 + inside(a) + inside(b),
        Predicate::IsNull(scalar) => inside(scalar),
        Predicate::Not(inner) => operators(inner),
        Predicate::All(several) | Predicate::Any(several) => several.iter().map(operators).sum(),
        Predicate::In(scalar, values) => {
            let values = u32::try_from(values.len()).unwrap_or(u32::MAX);
            f64::from(values) / 2.0 + inside(scalar)
        }
    }
}

fn inside(scalar: &Scalar) -> f64 {
    match scalar {
        Scalar::Combined(_, a, b) if !is_constant(scalar) => 1.0 + inside(a) + inside(b),
        _ => 0.0,
    }
}

/// The share of the rows that the whole condition is likely to leave.
pub(super) fn share(predicate: &Predicate) -> f64 {
    let all = parts(predicate);
    let ranges: Vec<Indexable<'_>> = all.iter().filter_map(|part| indexable(part)).collect();
    let mut share = 1.0;
    for part in all {
        share *= match (part, indexable(part)) {
            (_, Some(part)) if is_closed(&part, &ranges) => {
                // Both ends of a range together are one guess; each gets half of it.
                ONE_OF_MANY.sqrt()
            }
            (_, Some(part)) => part.test.share(),
            (Predicate::Any(any), None) => {
                any.iter().map(self::share).fold(0.0, |a, b| a + b - a * b)
            }
            (Predicate::Not(inner), None) => 1.0 - self::share(inner),
            (Predicate::Compare(_, Comparison::Equal, _), None) => ONE_OF_MANY,
            (Predicate::Compare(_, Comparison::NotEqual, _), None) => 1.0 - ONE_OF_MANY,
            (_, None) => ONE_SIDE,
        };
    }
    share
}

/// Whether the part is one end of a range that has both.
fn is_closed(part: &Indexable<'_>, all: &[Indexable<'_>]) -> bool {
    let other = match part.test {
        Test::Less => Test::Greater,
        Test::Greater => Test::Less,
        _ => return false,
    };
    all.iter()
        .any(|with| with.column == part.column && with.test == other)
}
