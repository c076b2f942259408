//! An effect that belongs to no planned slot.

use super::facts::{Facts, Setting};

/// However many there are: without a slot there is nothing that they could be duplicates of.
pub(super) fn holds(facts: &Facts, _: &Setting) -> bool {
    facts.unplanned
}
