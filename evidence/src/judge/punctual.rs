//! Early and late: an effect outside the tolerance around its slot's time (judged if `[judge]
//! tolerance` asks).

use super::facts::{Facts, Setting, place};
use crate::{History, What};

pub(super) fn is_early(facts: &Facts, _: &Setting) -> bool {
    facts.early
}

pub(super) fn is_late(facts: &Facts, _: &Setting) -> bool {
    facts.late
}

/// Marks every slot with an effect more than `tolerance_ms` before or after its scheduled time.
pub(super) fn mark(history: &History, tolerance_ms: u64, facts: &mut [Facts]) {
    let tolerance = i64::try_from(tolerance_ms).unwrap_or(i64::MAX);
    for event in &history.events {
        if !matches!(event.what, What::Effect { .. }) {
            continue;
        }
        let slot = event.ids.slot.truth();
        if let Some(place) = slot.and_then(|slot| place(&history.planned, slot)) {
            let after = event.at.ms_since(history.planned[place].scheduled);
            facts[place].late |= after > tolerance;
            facts[place].early |= after < -tolerance;
        }
    }
}
