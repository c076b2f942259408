//! `session_loss`: the coordinator ends the session of an instance that is alive.
//!
//! What the instance led and owned goes to others at once; it learns of it with its next answer.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const SESSION_LOSS: Description = Description {
    kind: FaultKind::SessionLoss,
    what: "the coordinator forgets the sessions of this instance, which is not told",
    source: "a ZooKeeper session that expired during a long pause elsewhere, a lease revoked by hand",
    amount: Amount::Nothing,
    places: &[(Scope::CoordinatorCalls, Phase::Before)],
    core: &[],
};
