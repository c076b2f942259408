//! Values that a statement computes, and conditions on them.

use super::Select;
use crate::ports::{Column, Value};
use std::sync::Arc;

/// What is done with two numbers; NULL with anything is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// The sum; of a time and a number of milliseconds: the later time.
    Add,
    /// The difference.
    Subtract,
    /// The remainder.
    Remainder,
}

/// A value that the server computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// As given.
    Value(Value),
    /// Of the row at hand.
    Column(Column),
    /// In the update part of an insert: of the row that was to be inserted (`EXCLUDED.c`,
    /// `VALUES(c)`).
    Excluded(Column),
    /// `NOW()`: PostgreSQL tells the start of the transaction, MariaDB of the statement.
    Now,
    /// The clock as it is (`clock_timestamp()`, `SYSDATE()`).
    Clock,
    /// Two values combined.
    Combined(Arithmetic, Box<Scalar>, Box<Scalar>),
    /// Texts one behind the other (`CONCAT`).
    Concat(Vec<Scalar>),
    /// The first value of the only row; NULL where there is none.
    Subquery(Box<Select>),
    /// Waits so many milliseconds; then 0 (`SLEEP`, `pg_sleep`).
    Sleep(u64),
    /// A variable of the session (`@@in_transaction`), by its name in lower case.
    Variable(Arc<str>),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A condition. A comparison with NULL is neither true nor false; a row is taken where the whole is
/// true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// Every row.
    Always,
    /// Two values compared.
    Compare(Scalar, Comparison, Scalar),
    /// Whether a value is NULL.
    IsNull(Scalar),
    /// The opposite.
    Not(Box<Predicate>),
    /// All of them.
    All(Vec<Predicate>),
    /// Any of them.
    Any(Vec<Predicate>),
    /// One of these values.
    In(Scalar, Vec<Scalar>),
}
