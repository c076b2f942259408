//! Retries, publishes or polls without end.

use super::facts::{Facts, Setting};

/// The execution was cut by its budget while the run was still going round, with or without its
/// effect. A dead letter does not go round.
pub(super) fn holds(facts: &Facts, setting: &Setting) -> bool {
    facts.effects <= 1 && facts.goes_round(setting) && !facts.dropped_by_policy()
}
