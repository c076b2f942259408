//! No effect, and something that a person can find still holds the run.

use super::facts::{Facts, Setting};

/// A message (dead letters included), an outbox row, an armed timer or a hanging attempt holds it,
/// or a list of open work shows its record; and nobody has recorded how it ended.
pub(super) fn holds(facts: &Facts, setting: &Setting) -> bool {
    facts.effects == 0
        && !facts.has_outcome()
        && !facts.dropped_by_policy()
        && !facts.goes_round(setting)
        && facts.is_held()
}
