//! `[database]`: the store of records, outbox, timers and lock rows.

mod check;

pub(super) use check::check;

use scheduler::ports::Isolation;
use scheduler::{Span, Switchable};
use serde::{Deserialize, Serialize};

/// `[database]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseTable {
    /// Which database it behaves like.
    pub profile: DatabaseProfile,
    /// What a statement sees of other transactions. `generic` has read_committed only; MariaDB's
    /// default is repeatable_read.
    pub isolation: Isolation,
    /// How long a statement waits for somebody else's lock before it fails. Default: for ever in
    /// PostgreSQL (lock_timeout), 50 s in MariaDB (innodb_lock_wait_timeout). Not for `generic`.
    #[serde(skip_serializing_if = "is_off")]
    pub lock_wait: Switchable,
    /// How long the server lets a transaction stand open with nothing to do before it ends the
    /// connection (idle_in_transaction_session_timeout, idle_transaction_timeout; both servers'
    /// default: for ever). Not for `generic`.
    #[serde(skip_serializing_if = "is_off")]
    pub idle_in_transaction: Switchable,
    /// Whether repeatable read refuses to change a row that has changed since the snapshot
    /// (MariaDB's innodb_snapshot_isolation; off by default until 11.6).
    #[serde(skip_serializing_if = "is_false")]
    pub snapshot_isolation: bool,
    /// Whether a row that is found and not changed counts as affected (MariaDB's CLIENT_FOUND_ROWS,
    /// which some drivers set).
    #[serde(skip_serializing_if = "is_false")]
    pub found_rows: bool,
    /// Whether a commit is on disk before it is acknowledged (synchronous_commit,
    /// innodb_flush_log_at_trx_commit). Without, a crash of the server loses the last ones.
    #[serde(skip_serializing_if = "is_true")]
    pub durable: bool,
    /// How far the commits of the standby that takes over are behind when the database fails over.
    #[serde(skip_serializing_if = "is_zero")]
    pub failover_loses: Span,
    /// How far reads outside a transaction are behind, where they go to a replica; `0s`: they go to
    /// the primary.
    #[serde(skip_serializing_if = "is_zero")]
    pub replica_lag: Span,
}

impl Default for DatabaseTable {
    fn default() -> Self {
        DatabaseTable {
            profile: DatabaseProfile::Generic,
            isolation: Isolation::ReadCommitted,
            lock_wait: Switchable(None),
            idle_in_transaction: Switchable(None),
            snapshot_isolation: false,
            found_rows: false,
            durable: true,
            failover_loses: Span::ZERO,
            replica_lag: Span::ZERO,
        }
    }
}

impl DatabaseTable {
    /// Whether it is a product with sessions of its own kind.
    pub fn is_product(&self) -> bool {
        self.profile != DatabaseProfile::Generic
    }
}

/// Which database it behaves like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseProfile {
    /// Read committed, unique indexes, row locks: what all of them have.
    #[default]
    Generic,
    /// PostgreSQL 15: versions, row locks, unique indexes that wait, serializable snapshots.
    Postgresql,
    /// MariaDB 10.11 with InnoDB: gap locks, locks that failed inserts keep, deadlocks found at once.
    Mariadb,
}

fn is_off(switchable: &Switchable) -> bool {
    switchable.0.is_none()
}

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_true(value: &bool) -> bool {
    *value
}
