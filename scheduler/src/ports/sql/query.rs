//! What a session asks of a server.

use super::{IndexDef, Predicate, Scalar, TableDef};
use crate::ports::{Column, Isolation, Table};
use std::sync::Arc;

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// CREATE TABLE.
    CreateTable(Table, TableDef),
    /// CREATE INDEX.
    CreateIndex(Table, IndexDef),
    /// BEGIN. `snapshot`: WITH CONSISTENT SNAPSHOT. `isolation`: for this transaction only.
    Begin {
        /// Whether the snapshot is taken at once.
        snapshot: bool,
        /// Another level than the session's.
        isolation: Option<Isolation>,
    },
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// SAVEPOINT.
    Savepoint(Arc<str>),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(Arc<str>),
    /// RELEASE SAVEPOINT.
    ReleaseSavepoint(Arc<str>),
    /// SELECT from a table.
    Select(Select),
    /// SELECT without a table.
    Values(Vec<Scalar>),
    /// INSERT, in all its forms.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
    /// Locks that have a name and no row.
    Named(NamedLock),
    /// SET: for the session, from the next statement on.
    Set(Setting),
}

/// What a SELECT gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// These values of each row.
    Each(Vec<Scalar>),
    /// How many rows.
    Count,
}

/// One column of ORDER BY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Which.
    pub column: Column,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// How strong a row lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// FOR UPDATE.
    Update,
    /// FOR SHARE, LOCK IN SHARE MODE.
    Share,
}

/// What a locking read does with a row that somebody else has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenLocked {
    /// Waits.
    Wait,
    /// SKIP LOCKED.
    Skip,
    /// NOWAIT.
    Fail,
}

/// The lock of a locking read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locking {
    /// How strong.
    pub strength: Strength,
    /// Where the row is locked already.
    pub when_locked: WhenLocked,
}

/// SELECT ... FROM one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// From where.
    pub table: Table,
    /// What.
    pub output: Output,
    /// Which rows.
    pub filter: Predicate,
    /// In which order; none given: as the server comes upon them.
    pub order: Vec<Order>,
    /// At most so many.
    pub limit: Option<u64>,
    /// Whether the rows are locked until the end of the transaction.
    pub locking: Option<Locking>,
}

/// Columns and their new values.
pub type Assignments = Vec<(Column, Scalar)>;

/// What an insert does where a unique index has the key already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// An error.
    Error,
    /// INSERT IGNORE (MariaDB): no duplicate, too long a text or missing value is an error; each
    /// becomes a warning.
    Ignore,
    /// ON CONFLICT DO NOTHING (PostgreSQL), on these columns or on any unique index.
    Nothing {
        /// The columns of the index; `None`: any.
        target: Option<Vec<Column>>,
    },
    /// ON CONFLICT DO UPDATE, ON DUPLICATE KEY UPDATE.
    Update {
        /// The columns of the index; `None`: any (MariaDB).
        target: Option<Vec<Column>>,
        /// What is set in the row that is there.
        set: Assignments,
    },
    /// REPLACE (MariaDB): the rows that are there are removed first.
    Replace,
}

/// INSERT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// Into where.
    pub table: Table,
    /// The columns that are given.
    pub columns: Vec<Column>,
    /// The rows, each with a value for each column.
    pub rows: Vec<Vec<Scalar>>,
    /// Whether the rows come from a SELECT (MariaDB judges a missing value differently).
    pub from_select: bool,
    /// If a key exists.
    pub conflict: Conflict,
    /// RETURNING.
    pub returning: Option<Vec<Scalar>>,
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Of which table.
    pub table: Table,
    /// What.
    pub set: Assignments,
    /// Which rows.
    pub filter: Predicate,
    /// In which order (MariaDB).
    pub order: Vec<Order>,
    /// At most so many (MariaDB).
    pub limit: Option<u64>,
    /// RETURNING (PostgreSQL).
    pub returning: Option<Vec<Scalar>>,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// From which table.
    pub table: Table,
    /// Which rows.
    pub filter: Predicate,
    /// In which order (MariaDB).
    pub order: Vec<Order>,
    /// At most so many (MariaDB).
    pub limit: Option<u64>,
    /// RETURNING.
    pub returning: Option<Vec<Scalar>>,
}

/// A lock that has a name and no row. Taken twice by one session it has to be released twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedLock {
    /// `GET_LOCK(name, wait)`, `pg_try_advisory_lock(n)`, `pg_advisory_lock(n)`,
    /// `pg_try_advisory_xact_lock(n)`. Gives 1 or 0.
    Take {
        /// Which.
        name: Arc<str>,
        /// How long to wait, in milliseconds; `None`: for ever.
        wait: Option<u64>,
        /// Whether it ends with the transaction (else with the session).
        transaction: bool,
    },
    /// `RELEASE_LOCK(name)`, `pg_advisory_unlock(n)`. Gives 1, 0 where somebody else has it, NULL
    /// where nobody has (PostgreSQL: 0).
    Release {
        /// Which.
        name: Arc<str>,
    },
}

/// SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `innodb_lock_wait_timeout`, `lock_timeout`: how long a statement waits for a lock, in
    /// milliseconds; `None`: for ever.
    LockWait(Option<u64>),
    /// `idle_in_transaction_session_timeout`, `idle_transaction_timeout`, in milliseconds; `None`:
    /// never.
    IdleInTransaction(Option<u64>),
    /// `wait_timeout`, `idle_session_timeout`, in milliseconds; `None`: never.
    IdleSession(Option<u64>),
    /// `deadlock_timeout` (PostgreSQL), in milliseconds.
    DeadlockCheck(u64),
    /// `innodb_snapshot_isolation` (MariaDB).
    SnapshotIsolation(bool),
    /// CLIENT_FOUND_ROWS (MariaDB; an option of the connection).
    FoundRows(bool),
    /// `synchronous_commit`, `innodb_flush_log_at_trx_commit`: whether a commit is on disk before it
    /// is acknowledged.
    Durable(bool),
    /// The level of the transactions to come.
    Isolation(Isolation),
    /// `autocommit` (MariaDB).
    Autocommit(bool),
    /// Something that changes nothing that is modelled.
    Nothing,
}
