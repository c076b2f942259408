//! `operator_replay`: a person publishes a copy of a message that was already accepted.
//!
//! The copy has the same runKey and trace, and a messageId of its own.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const OPERATOR_REPLAY: Description = Description {
    kind: FaultKind::OperatorReplay,
    what: "a person publishes a copy of an accepted message of this run",
    source: "S0.6: a replay from the dead-letter queue or a console, after the run had been done",
    amount: Amount::Nothing,
    places: &[(Scope::CallsOfAcceptedRuns, Phase::Before)],
    core: &[],
};
