//! The record contradicts the ledger.

use super::facts::{Facts, Setting};

/// SUCCEEDED without effect; or DEAD or FAILED although the effect happened: a person who replays
/// that makes the next duplicate.
///
/// A dead letter is a record too, where it is the only one: it says failed. Where a run has several
/// records (`[identity] key = "fresh"` writes one a message), one that says SUCCEEDED is believed.
pub(super) fn holds(facts: &Facts, setting: &Setting) -> bool {
    match facts.effects {
        0 => facts.recorded_succeeded(),
        1 if facts.recorded_succeeded() => false,
        1 => {
            facts.recorded_dead()
                || facts.recorded_failed()
                || facts.has_dead_letter() && facts.is_unrecorded(setting)
        }
        _ => false,
    }
}
