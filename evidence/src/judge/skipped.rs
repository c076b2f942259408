//! Dropped by a policy that the scenario declares (misfire, overlap, discard_later).

use super::facts::{Facts, Setting};

/// Fine, unless `[judge] skipped = "lost"` (then `lost` is found before).
///
/// A scheduler that skips a slot drops it only if no scheduler published it; an executor that drops
/// its message only if none is published afterwards. No attempt may have begun, nothing may be left.
pub(super) fn holds(facts: &Facts, _: &Setting) -> bool {
    facts.effects == 0 && facts.dropped_by_policy()
}
