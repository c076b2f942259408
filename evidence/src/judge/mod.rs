//! The judge: what the outside world saw of every slot, and whether that keeps the promise.
//!
//! It counts entries of the downstream's ledger per slot and reads what is left at the end: the
//! records, and what still holds a run. It does not look at how the pipeline works. One pass over
//! the events gathers the facts of every slot; then the verdicts are tried worst first, each in a
//! file of its own, and the first that holds is the slot's.

mod duplicate;
mod facts;
mod gave_up;
mod judging;
mod lost;
mod misrecorded;
mod no_progress;
mod overlap;
mod phantom;
mod promise;
mod punctual;
mod skipped;
mod stale_effect;
mod stuck;
mod unfinished;

pub use judging::{GaveUpAs, Judging, SkippedAs};

use crate::{History, Judgement, SlotVerdict, Verdict, layer};
use facts::{Facts, Setting};

/// Whether a verdict holds of a slot, given that no worse one does.
type Check = fn(&Facts, &Setting) -> bool;

/// Worst first. What none of them finds is exactly_once.
const CHECKS: [(Verdict, Check); 13] = [
    (Verdict::Duplicate, duplicate::holds),
    (Verdict::Phantom, phantom::holds),
    (Verdict::Lost, lost::holds),
    (Verdict::Stuck, stuck::holds),
    (Verdict::Misrecorded, misrecorded::holds),
    (Verdict::GaveUp, gave_up::holds),
    (Verdict::NoProgress, no_progress::holds),
    (Verdict::Unfinished, unfinished::holds),
    (Verdict::StaleEffect, stale_effect::holds),
    (Verdict::Overlap, overlap::holds),
    (Verdict::Early, punctual::is_early),
    (Verdict::Late, punctual::is_late),
    (Verdict::Skipped, skipped::holds),
];

/// Judges every slot of an execution, in time linear in its events.
///
/// The verdict of the execution is the worst of the slots that break the promise, or, where none
/// does, the worst of all; `exactly_once` where no slot was planned and nothing happened. The slots
/// of `history.planned` and of its rest are expected in order, as documented there.
pub fn judge(history: &History, judging: &Judging) -> Judgement {
    let slots = judge_slots(history, judging);
    let broken = |slot: &&SlotVerdict| promise::is_broken(judging, slot);
    let worst_failure = slots.iter().filter(broken).map(|slot| slot.verdict).min();
    let worst = slots.iter().map(|slot| slot.verdict).min();
    let mut judgement = Judgement {
        verdict: worst_failure.or(worst).unwrap_or(Verdict::ExactlyOnce),
        failure: worst_failure.is_some(),
        layer: None,
        slots,
    };
    if judgement.failure {
        judgement.layer = judgement
            .worst()
            .map(|slot| layer::attribute(history, slot.slot, slot.verdict));
    }
    judgement
}

fn judge_slots(history: &History, judging: &Judging) -> Vec<SlotVerdict> {
    let (mut facts, phantoms) = facts::gather(history);
    if let Some(tolerance_ms) = judging.tolerance {
        punctual::mark(history, tolerance_ms, &mut facts);
    }
    if judging.overlap {
        overlap::mark(history, &mut facts);
    }
    if judging.stale {
        stale_effect::mark(history, &mut facts);
    }

    let setting = Setting::of(history, judging);
    let planned = history
        .planned
        .iter()
        .zip(&facts)
        .map(|(planned, facts)| SlotVerdict {
            slot: planned.slot,
            verdict: verdict(facts, &setting),
            effects: facts.effects,
        });
    let mut slots: Vec<_> = planned.collect();
    slots.extend(phantoms.into_iter().map(|(slot, effects)| SlotVerdict {
        slot,
        verdict: verdict(&Facts::phantom(effects), &setting),
        effects,
    }));
    slots.sort_by_key(|slot| slot.slot);
    slots
}

fn verdict(facts: &Facts, setting: &Setting) -> Verdict {
    CHECKS
        .iter()
        .find(|(_, holds)| holds(facts, setting))
        .map_or(Verdict::ExactlyOnce, |(verdict, _)| *verdict)
}
