//! What a server answers.

use crate::ports::Value;

/// What kind of statement was done: PostgreSQL's command tag without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// BEGIN
    Begin,
    /// COMMIT
    Commit,
    /// ROLLBACK, and what COMMIT says of a transaction that had failed
    Rollback,
    /// SAVEPOINT
    Savepoint,
    /// RELEASE
    Release,
    /// SELECT
    Select,
    /// INSERT
    Insert,
    /// UPDATE
    Update,
    /// DELETE
    Delete,
    /// SET
    Set,
    /// CREATE TABLE
    CreateTable,
    /// CREATE INDEX
    CreateIndex,
}

/// What a statement came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What was done.
    pub tag: Tag,
    /// How many rows were inserted, changed or removed, as the server counts; `None` where it does
    /// not count.
    pub affected: Option<u64>,
    /// The rows, for a statement that gives rows.
    pub rows: Option<Vec<Vec<Value>>>,
    /// Warnings, as MariaDB numbers them.
    pub warnings: Vec<u16>,
}

impl Reply {
    /// Done, and nothing more to say.
    pub const fn done(tag: Tag) -> Self {
        Reply {
            tag,
            affected: None,
            rows: None,
            warnings: Vec::new(),
        }
    }
}

/// Why a statement failed. What becomes of the transaction then differs between servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum SqlError {
    /// The key exists.
    #[error("a row with this key exists")]
    UniqueViolation,
    /// Chosen to end a circle of waiting.
    #[error("the transaction was rolled back to end a deadlock")]
    Deadlock,
    /// The transaction cannot be put in order with the others.
    #[error("the transaction cannot be serialized with others")]
    SerializationFailure,
    /// MariaDB's innodb_snapshot_isolation: the row has changed since the snapshot.
    #[error("the row has changed since it was last read")]
    RecordChanged,
    /// Waited too long for a lock.
    #[error("waited too long for a lock")]
    LockTimeout,
    /// NOWAIT, and somebody has the lock.
    #[error("the row is locked")]
    LockNotAvailable,
    /// An earlier statement of the transaction failed.
    #[error("the transaction has failed already")]
    TransactionAborted,
    /// The connection is gone, and with it the transaction.
    #[error("the connection is lost")]
    ConnectionLost,
    /// The server has closed a connection that was idle too long in a transaction.
    #[error("the server has ended the idle transaction")]
    IdleInTransaction,
    /// The text is too long for the column.
    #[error("the text is too long for the column")]
    TooLong,
    /// NULL in a column that has none.
    #[error("the column cannot be NULL")]
    NotNull,
    /// No such savepoint.
    #[error("there is no such savepoint")]
    NoSavepoint,
    /// SAVEPOINT or ROLLBACK TO outside a transaction (PostgreSQL).
    #[error("there is no transaction")]
    NoTransaction,
    /// ON CONFLICT names columns that no unique index has.
    #[error("no unique index has these columns")]
    NoSuchConstraint,
    /// The value is not one of the column's type.
    #[error("the value does not fit the column's type")]
    WrongType,
}
