//! No effect or unknown, recorded as DEAD or quarantined for a person.

use super::facts::{Facts, Setting};

/// DEAD without effect; or UNKNOWN, which is no lie whether the effect happened or not.
pub(super) fn holds(facts: &Facts, _: &Setting) -> bool {
    match facts.effects {
        0 => facts.recorded_dead() || facts.recorded_unknown(),
        1 => facts.recorded_unknown() && !facts.recorded_succeeded(),
        _ => false,
    }
}
