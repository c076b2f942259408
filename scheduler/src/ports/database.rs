//! The database: statements on keyed rows, in transactions.
//!
//! A statement is what one SQL statement of a guard does. [`Database::execute`] is one round trip
//! that runs several of them in one transaction; [`Database::begin`] opens a transaction that
//! stays open across round trips and holds its locks until it ends.

use super::{At, CallError, Fut};
use evidence::{SlotTag, Timestamp};
use smallvec::SmallVec;
use std::sync::Arc;

/// A table, by its number in `crate::tables`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Table(pub u8);

/// A column, by its position in the table's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u8);

/// A primary key.
pub type Key = Arc<str>;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// A number, a state, a token, or a time in milliseconds since the Unix epoch.
    Int(i64),
    /// A text.
    Text(Arc<str>),
}

impl Value {
    /// The number inside, or 0.
    pub const fn int(&self) -> i64 {
        match self {
            Value::Int(number) => *number,
            _ => 0,
        }
    }
}

/// The values of a row, by column.
pub type Cells = SmallVec<[Value; 6]>;

/// A value computed by the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// As given.
    Value(Value),
    /// The database's clock at the start of the statement, plus milliseconds.
    Now {
        /// Milliseconds added.
        plus_ms: i64,
    },
    /// The column's present value plus a number.
    Plus(Column, i64),
}

impl Expr {
    /// The value for a row, by the database's clock.
    pub fn evaluate(&self, cells: &[Value], now: Timestamp) -> Value {
        match self {
            Expr::Value(value) => value.clone(),
            Expr::Now { plus_ms } => Value::Int(now.0.saturating_add(*plus_ms)),
            Expr::Plus(column, add) => match cells.get(usize::from(column.0)) {
                Some(Value::Int(number)) => Value::Int(number.saturating_add(*add)),
                _ => Value::Null,
            },
        }
    }
}

impl From<i64> for Expr {
    fn from(number: i64) -> Self {
        Expr::Value(Value::Int(number))
    }
}

/// One comparison; comparisons with NULL are false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The column equals the number.
    Is(Column, i64),
    /// The column is at most the value.
    AtMost(Column, Expr),
    /// The column is NULL.
    IsNull(Column),
}

impl Test {
    fn passes(&self, cells: &[Value], now: Timestamp) -> bool {
        let cell = |column: &Column| cells.get(usize::from(column.0));
        match self {
            Test::Is(column, number) => cell(column) == Some(&Value::Int(*number)),
            Test::AtMost(column, most) => match (cell(column), most.evaluate(cells, now)) {
                (Some(Value::Int(present)), Value::Int(most)) => *present <= most,
                _ => false,
            },
            Test::IsNull(column) => matches!(cell(column), None | Some(Value::Null)),
        }
    }
}

/// Any of several lists of tests, of which all must hold; an empty condition always holds.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Condition {
    /// The tests, each with the number of its list, ascending.
    tests: SmallVec<[(u8, Test); 3]>,
}

impl Condition {
    /// Always true.
    pub fn always() -> Self {
        Condition::default()
    }

    /// True if all of these hold.
    pub fn all(tests: impl IntoIterator<Item = Test>) -> Self {
        Condition::default().or_all(tests)
    }

    /// Or if all of these hold.
    pub fn or_all(mut self, tests: impl IntoIterator<Item = Test>) -> Self {
        let list = self
            .tests
            .last()
            .map_or(0, |(list, _)| list.saturating_add(1));
        for test in tests {
            self.tests.push((list, test));
        }
        self
    }

    /// The lists of tests; none: it always holds.
    pub fn lists(&self) -> impl Iterator<Item = impl Iterator<Item = &Test>> {
        self.tests
            .chunk_by(|(list, _), (next, _)| list == next)
            .map(|tests| tests.iter().map(|(_, test)| test))
    }

    /// Whether it holds for a row, by the database's clock.
    pub fn holds(&self, cells: &[Value], now: Timestamp) -> bool {
        self.tests.is_empty()
            || self
                .tests
                .chunk_by(|(list, _), (next, _)| list == next)
                .any(|tests| tests.iter().all(|(_, test)| test.passes(cells, now)))
    }
}

/// What an insert does when the key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// The whole transaction is rolled back; the answer is [`Answer::Conflict`].
    Abort,
    /// Nothing is inserted; the answer is `Affected(0)` and the transaction goes on.
    Ignore,
}

/// Whether a read takes the row's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// No.
    None,
    /// Until the end of the transaction (SELECT ... FOR UPDATE).
    ForUpdate,
    /// The same; a row that another transaction has locked is not read, and not waited for
    /// (SELECT ... FOR UPDATE SKIP LOCKED).
    SkipLocked,
}

/// What one SQL statement of a guard does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Adds a row; waits while another open transaction has inserted the same key.
    Insert {
        /// The table.
        table: Table,
        /// The key; unique.
        key: Key,
        /// The values.
        cells: Vec<Expr>,
        /// If the key exists.
        on_conflict: OnConflict,
    },
    /// Changes the row with this key where the condition holds.
    Update {
        /// The table.
        table: Table,
        /// The key.
        key: Key,
        /// Where.
        when: Condition,
        /// New values.
        set: Vec<(Column, Expr)>,
        /// If true and no row is affected, the whole transaction is rolled back.
        required: bool,
    },
    /// Reads the row with this key.
    Select {
        /// The table.
        table: Table,
        /// The key.
        key: Key,
        /// Whether to lock it.
        lock: RowLock,
    },
    /// Reads every row where the condition holds, in key order.
    Scan {
        /// The table.
        table: Table,
        /// Where.
        when: Condition,
    },
    /// Changes the first row, in key order, where the condition holds and which nobody else has
    /// locked, and gives it as it is then: an update of the row that SELECT .. LIMIT 1 FOR UPDATE
    /// SKIP LOCKED finds, RETURNING it.
    Take {
        /// The table.
        table: Table,
        /// Where.
        when: Condition,
        /// New values.
        set: Vec<(Column, Expr)>,
    },
    /// Removes the row with this key where the condition holds.
    Delete {
        /// The table.
        table: Table,
        /// The key.
        key: Key,
        /// Where.
        when: Condition,
    },
}

/// The statements of one round trip.
pub type Statements = Vec<Statement>;

/// A row as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: Key,
    /// The values.
    pub cells: Cells,
    /// The slot of the run that wrote the row last, sealed.
    pub slot: SlotTag,
}

/// What a statement answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// So many rows were inserted, changed or removed.
    Affected(u32),
    /// The key exists: a unique-violation error. The transaction is rolled back.
    Conflict,
    /// The rows read.
    Rows(Vec<Row>),
}

impl Answer {
    /// The rows read; none for any other answer.
    pub fn rows(&self) -> &[Row] {
        match self {
            Answer::Rows(rows) => rows,
            _ => &[],
        }
    }

    /// Whether a row was inserted, changed or removed.
    pub const fn changed(&self) -> bool {
        matches!(self, Answer::Affected(n) if *n > 0)
    }
}

/// One answer a statement, in order; shorter than the statements where the transaction was rolled
/// back on the way (the last answer says why).
pub type Answers = SmallVec<[Answer; 3]>;

/// The isolation level of a transaction.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Statements see what others have not committed yet (MariaDB; in PostgreSQL it is read
    /// committed).
    ReadUncommitted,
    /// Each statement sees what was committed when it began (PostgreSQL's default).
    #[default]
    ReadCommitted,
    /// Every statement sees what was committed at the first one (MariaDB's default).
    RepeatableRead,
    /// As if one transaction came after the other.
    Serializable,
}

/// A database, as one instance is connected to it.
pub trait Database: Send + Sync {
    /// One round trip: all statements in one transaction, committed at its end.
    fn execute<'a>(
        &'a self,
        at: At<'a>,
        statements: Statements,
    ) -> Fut<'a, Result<Answers, CallError>>;

    /// A transaction that stays open across round trips; it begins with its first statement.
    fn begin(&self, isolation: Isolation) -> Box<dyn Transaction>;
}

/// An open transaction. Dropping it rolls it back (the server notices the closed session).
pub trait Transaction: Send + Sync {
    /// One round trip inside the transaction; `commit` ends it after the statements.
    ///
    /// After an error the transaction is rolled back.
    fn execute<'a>(
        &'a mut self,
        at: At<'a>,
        statements: Statements,
        commit: bool,
    ) -> Fut<'a, Result<Answers, CallError>>;
}
