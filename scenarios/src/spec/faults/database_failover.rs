//! `database_failover`: a standby of the database takes over that was behind.
//!
//! Commits of the last milliseconds are undone, whoever was told that they were done; open
//! transactions are gone, and the database is away for `restart_after`.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const DATABASE_FAILOVER: Description = Description {
    kind: FaultKind::DatabaseFailover,
    what: "a standby of the database takes over that had not got the last commits, of as long as the magnitude",
    source: "asynchronous streaming replication: PostgreSQL (synchronous_standby_names empty), MariaDB",
    amount: Amount::Losing,
    places: &[(Scope::DatabaseWithStandby, Phase::Before)],
    core: &[],
};
