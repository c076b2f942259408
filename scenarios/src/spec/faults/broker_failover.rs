//! `broker_failover`: a replica of the broker takes over that was behind.
//!
//! Messages of the last milliseconds are gone, whoever was told that they were accepted, and what was
//! settled then comes again; the broker is away for `restart_after`.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const BROKER_FAILOVER: Description = Description {
    kind: FaultKind::BrokerFailover,
    what: "a replica of the broker takes over that had not got what came last, of as long as the magnitude",
    source: "asynchronous replication: Kafka with acks=1, Redis, mirrored classic queues of RabbitMQ 3",
    amount: Amount::Losing,
    places: &[(Scope::BrokerWithReplica, Phase::Before)],
    core: &[],
};
