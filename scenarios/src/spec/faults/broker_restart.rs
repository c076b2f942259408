//! `broker_restart`: the broker restarts; its connections break.
//!
//! Deliveries that were not settled go back as the broker's profile says; a broker that keeps its
//! messages in memory loses them.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const BROKER_RESTART: Description = Description {
    kind: FaultKind::BrokerRestart,
    what: "the broker restarts: connections break, unsettled deliveries go back, memory is lost",
    source: "an upgrade or a crash of the broker",
    amount: Amount::Nothing,
    places: &[(Scope::BrokerCalls, Phase::Before)],
    core: &[(Scope::BrokerCalls, Phase::Before)],
};
