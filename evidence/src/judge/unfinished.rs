//! One effect, and its record or message never becomes final.

use super::facts::{Facts, Setting};

/// A message, an outbox row or an attempt is left; or the record (where one is kept) does not say
/// SUCCEEDED; or (in `local`, where no record is kept) the attempt never ended: its process died
/// and nobody knows that the work was done.
pub(super) fn holds(facts: &Facts, setting: &Setting) -> bool {
    facts.effects == 1 && (facts.is_unsettled() || !is_known_done(facts, setting))
}

fn is_known_done(facts: &Facts, setting: &Setting) -> bool {
    if facts.recorded_succeeded() {
        true
    } else if setting.keeps_record {
        false
    } else {
        !setting.local || facts.ended
    }
}
