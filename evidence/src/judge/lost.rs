//! No effect, and no live component holds the run.

use super::SkippedAs;
use super::facts::{Facts, Setting};

/// Its messages are acked or gone, no timer will fire the slot, and what record it has is one that
/// nothing reads: a RUNNING zombie that every delivery skips, a FAILED row that is never retried.
///
/// Also: dropped by a policy where `[judge] skipped = "lost"`.
pub(super) fn holds(facts: &Facts, setting: &Setting) -> bool {
    if facts.effects > 0 || facts.has_outcome() {
        return false;
    }
    if facts.dropped_by_policy() {
        return setting.skipped == SkippedAs::Lost;
    }
    !facts.is_held()
}
