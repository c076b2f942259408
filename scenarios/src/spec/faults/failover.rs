//! `failover`: a standby takes over from the server, without the last things that it did.
//!
//! How far behind it is, the scenario says: `[database] failover_loses`, `[lock] replication_lag`.
//! Outside the envelope: what an acknowledged commit promised is gone.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const FAILOVER: Description = Description {
    kind: FaultKind::Failover,
    what: "a standby takes over from the server of this step: connections break, the last commits are lost",
    source: "asynchronous replication: PostgreSQL streaming, MariaDB, Redis Sentinel and Cluster",
    amount: Amount::Losing,
    places: &[],
    core: &[],
    beyond: &[(Scope::CallsOfReplicated, Phase::Before)],
};
