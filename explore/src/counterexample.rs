//! An execution worth showing, and the order in which plans are shown.

use crate::cell_of;
use evidence::{Attribution, Judgement, TraceHash, Verdict};
use scenarios::spec::{Cell, Fault, Plan};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// A seed and a plan, what they gave, and where the plan stands in canonical order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The seed.
    pub seed: u64,
    /// The plan.
    pub plan: Plan,
    /// What the judge says.
    pub judgement: Judgement,
    /// Identifies the execution.
    pub trace_hash: TraceHash,
    /// For each fault, the place of its site in the execution of the plan before it.
    pub(crate) places: SmallVec<[u32; 4]>,
}

impl Counterexample {
    /// The verdict of the worst slot.
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict
    }

    /// Where that verdict was born.
    pub fn layer(&self) -> Option<&Attribution> {
        self.judgement.layer.as_ref()
    }

    /// Number of effects of the worst slot.
    pub fn effects(&self) -> u32 {
        effects_of_worst(&self.judgement)
    }

    /// The kind and step of each fault, in the order of the plan.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.plan.faults.iter().map(cell_of)
    }

    pub(crate) fn rank(&self) -> Rank<'_> {
        Rank {
            places: &self.places,
            faults: &self.plan.faults,
            seed: self.seed,
        }
    }
}

/// Number of effects of the worst slot: the first one with the verdict of the execution.
pub(crate) fn effects_of_worst(judgement: &Judgement) -> u32 {
    judgement
        .slots
        .iter()
        .find(|slot| slot.verdict == judgement.verdict)
        .map_or(0, |slot| slot.effects)
}

/// The place of a plan in canonical order: number of faults, then fault by fault the place of
/// its site in the execution before it, kind number and magnitude, then the seed.
///
/// The phase is part of the place: two phases of one call are two sites, ordered by moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rank<'a> {
    pub places: &'a [u32],
    pub faults: &'a [Fault],
    pub seed: u64,
}

impl Rank<'_> {
    pub fn precedes(&self, other: &Rank<'_>) -> bool {
        self.compare(other) == Ordering::Less
    }

    fn compare(&self, other: &Rank<'_>) -> Ordering {
        self.faults
            .len()
            .cmp(&other.faults.len())
            .then_with(|| self.fault_keys().cmp(other.fault_keys()))
            .then_with(|| self.seed.cmp(&other.seed))
    }

    pub fn fault_keys(&self) -> impl Iterator<Item = (u32, u8, i64)> + '_ {
        self.places
            .iter()
            .zip(self.faults)
            .map(|(place, fault)| (*place, fault.kind as u8, fault.magnitude_ms))
    }
}

/// Keeps the canonically first of two.
pub(crate) fn keep_first(kept: &mut Option<Counterexample>, other: Option<Counterexample>) {
    let earlier = match (&*kept, &other) {
        (Some(kept), Some(other)) => other.rank().precedes(&kept.rank()),
        (None, Some(_)) => true,
        (_, None) => false,
    };
    if earlier {
        *kept = other;
    }
}
