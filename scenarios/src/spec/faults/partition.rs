//! `partition`: nothing passes between an instance and a server for a while, both ways or one way.
//!
//! It begins before a call and concerns the server of that call; other servers stay reachable.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// Both ways.
pub(super) const PARTITION: Description = Description {
    kind: FaultKind::Partition,
    what: "nothing passes between this instance and the server of this step, for the magnitude",
    source: "a broken link, a firewall rule, a lost route",
    amount: Amount::Lasting,
    places: &[(Scope::Calls, Phase::Before)],
    core: &[],
};

/// Only the way to the server.
pub(super) const PARTITION_TO_SERVER: Description = Description {
    kind: FaultKind::PartitionToServer,
    what: "nothing passes from this instance to the server of this step, for the magnitude; replies still arrive",
    source: "an asymmetric route, a half-open connection",
    amount: Amount::Lasting,
    places: &[(Scope::Calls, Phase::Before)],
    core: &[],
};

/// Only the way back.
pub(super) const PARTITION_FROM_SERVER: Description = Description {
    kind: FaultKind::PartitionFromServer,
    what: "nothing passes from the server of this step to this instance, for the magnitude; requests are still executed",
    source: "an asymmetric route, a half-open connection",
    amount: Amount::Lasting,
    places: &[(Scope::Calls, Phase::Before)],
    core: &[],
};
