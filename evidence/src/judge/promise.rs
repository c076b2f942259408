//! Which verdicts break which promise.

use super::{GaveUpAs, Judging};
use crate::{Promise, SlotVerdict, Verdict};

/// Whether the verdict of a slot breaks the promise that the scenario makes.
///
/// | promise | broken by |
/// |---|---|
/// | exactly_once | everything worse than stale_effect |
/// | at_least_once | phantom, lost, stuck, no_progress, gave_up, and SUCCEEDED without effect |
/// | at_most_once | duplicate and phantom |
///
/// gave_up breaks none where the scenario allows it. stale_effect, overlap, early and late are
/// found only where `[judge]` asks for them, and then they break every promise: who asks, minds.
pub(super) fn is_broken(judging: &Judging, slot: &SlotVerdict) -> bool {
    use Verdict::*;
    match (slot.verdict, judging.promise) {
        (Skipped | ExactlyOnce, _) => false,
        (StaleEffect | Overlap | Early | Late, _) => true,
        (GaveUp, _) if judging.gave_up == GaveUpAs::Ok => false,
        (_, Promise::ExactlyOnce) => true,
        (Phantom | Lost | Stuck | NoProgress | GaveUp, Promise::AtLeastOnce) => true,
        (Misrecorded, Promise::AtLeastOnce) => slot.effects == 0,
        (Duplicate | Unfinished, Promise::AtLeastOnce) => false,
        (Duplicate | Phantom, Promise::AtMostOnce) => true,
        (Lost | Stuck | Misrecorded | GaveUp | NoProgress | Unfinished, Promise::AtMostOnce) => {
            false
        }
    }
}
