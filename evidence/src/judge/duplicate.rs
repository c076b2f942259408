//! More than one effect for a slot.

use super::facts::{Facts, Setting};

/// A takeover after an expired lease is two attempts and one effect, hence none.
pub(super) fn holds(facts: &Facts, _: &Setting) -> bool {
    !facts.unplanned && facts.effects > 1
}
