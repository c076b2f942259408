//! `lock_failover`: a replica of the lock service takes over that was behind.
//!
//! Changes of the last milliseconds are undone, whoever was told that they were done: a lock that
//! was taken is free, one that was given back is held, one that was renewed ends earlier. It takes
//! no time by itself; an outage beside it is a fault of its own.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const LOCK_FAILOVER: Description = Description {
    kind: FaultKind::LockFailover,
    what: "a replica of the lock service takes over that had not got the last changes, of as long as the magnitude",
    source: "Redis Sentinel and Redis Cluster: replication is asynchronous",
    amount: Amount::Losing,
    places: &[(Scope::LockWithReplica, Phase::Before)],
    core: &[],
};
