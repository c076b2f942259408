//! Statements as SQL has them: by search condition on any column, with locks, conflicts, savepoints
//! and sessions.
//!
//! The statements of [`super::Statement`] find a row by its primary key, which is all that most
//! guards need, and are quicker to run. What is here is for the guards that need more of a
//! database, and for holding the database model against real servers. A [`Query`] is what a parsed
//! SQL statement says, with tables and columns by number; it means the same on every server, and
//! what differs between servers is the server's business.

mod query;
mod reply;
mod scalar;
mod schema;

pub use query::{
    Assignments, Conflict, Delete, Insert, Locking, NamedLock, Order, Output, Query, Select,
    Setting, Strength, Update, WhenLocked,
};
pub use reply::{Reply, SqlError, Tag};
pub use scalar::{Arithmetic, Comparison, Predicate, Scalar};
pub use schema::{Collation, ColumnDef, IndexDef, TableDef, Type};
