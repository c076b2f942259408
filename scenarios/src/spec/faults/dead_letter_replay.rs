//! `dead_letter_replay`: a person puts every dead letter back into the queue.
//!
//! Each becomes a new message with the same runKey and trace, as a shovel from a dead-letter queue
//! makes it: its deliveries are counted anew.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const DEAD_LETTER_REPLAY: Description = Description {
    kind: FaultKind::DeadLetterReplay,
    what: "a person puts every dead letter back into the queue, each as a new message",
    source: "S0.6: the dead-letter queue is emptied into the queue after an incident",
    amount: Amount::Nothing,
    places: &[(Scope::BrokerCalls, Phase::Before)],
    core: &[],
};
