//! The servers' own codes of their errors: a table.

use super::Flavor;
use scheduler::ports::sql::SqlError;

/// What the server's client is told: an SQLSTATE in PostgreSQL, a number in MariaDB.
pub const fn code(flavor: Flavor, error: SqlError) -> &'static str {
    let (postgres, mariadb) = match error {
        SqlError::UniqueViolation => ("23505", "1062"),
        SqlError::Deadlock => ("40P01", "1213"),
        SqlError::SerializationFailure => ("40001", "1213"),
        SqlError::RecordChanged => ("40001", "1020"),
        SqlError::LockTimeout => ("55P03", "1205"),
        SqlError::LockNotAvailable => ("55P03", "1205"),
        SqlError::TransactionAborted => ("25P02", "1213"),
        SqlError::ConnectionLost => ("conn_lost", "2013"),
        SqlError::IdleInTransaction => ("25P03", "2013"),
        SqlError::TooLong => ("22001", "1406"),
        SqlError::NotNull => ("23502", "1048"),
        SqlError::NoSavepoint => ("3B001", "1305"),
        SqlError::NoTransaction => ("25P01", "1305"),
        SqlError::NoSuchConstraint => ("42P10", "1064"),
        SqlError::WrongType => ("22P02", "1366"),
    };
    match flavor {
        Flavor::Postgres => postgres,
        Flavor::MariaDb => mariadb,
    }
}
