//! `graceful_stop`: the instance is asked to stop, finishes what it does, and is back after
//! `restart_after`.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const GRACEFUL_STOP: Description = Description {
    kind: FaultKind::GracefulStop,
    what: "the instance is asked to stop, finishes what it does, and is back after restart_after",
    source: "SIGTERM of a deployment or an autoscaler",
    amount: Amount::Nothing,
    places: &[(Scope::Steps, Phase::Before)],
    core: &[],
};
