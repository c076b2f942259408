//! What all plans of one number of faults gave, in bounded memory.

use crate::Outcome;
use crate::counterexample::{Rank, keep_first};
use crate::known::{Proposals, propose};
use crate::sample::Samples;
use crate::symptom::Symptoms;
use crate::tally::Tally;
use crate::{Counterexample, Coverage, Cut, Digest, Places};
use evidence::{Judgement, Verdict};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The summary of one level: every plan of exactly `faults` faults, under every seed.
///
/// Its size depends on the number of kinds, steps and symptoms, not on the number of plans. All
/// of it is the same for any number of threads, unless the level was cut.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Level {
    /// Number of faults of each plan.
    pub faults: u8,
    /// Why not all plans ran; `None` if they did.
    pub cut: Option<Cut>,
    /// Number of (seed, plan) pairs that ran.
    pub plans: u64,
    /// Number of (seed, plan) pairs that were not run, since they go on from a state from which
    /// plans were run already.
    pub merged: u64,
    /// Number of executions, with those of shorter plans that were needed to find the sites of
    /// longer ones, and those executed a second time.
    pub executions: u64,
    /// Number of (seed, plan) pairs that were executed twice and compared.
    pub repeated: u64,
    /// Number that broke the promise.
    pub failing: u64,
    /// Number that did what the caller looked for.
    pub matching: u64,
    /// Number of plans of the next level, if this one was not cut, as far as it is known: of those
    /// that are going to be merged not all are counted. 0 where that was not asked.
    pub next_plans: u64,
    /// Number of each verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Number of each verdict that broke the promise.
    pub failing_verdicts: BTreeMap<Verdict, u64>,
    /// The ways in which plans failed.
    pub symptoms: Symptoms,
    /// The canonically first plan that broke the promise.
    pub first_failing: Option<Counterexample>,
    /// The canonically first plan that did what the caller looked for.
    pub first_matching: Option<Counterexample>,
    /// Which kinds took effect at which steps.
    pub coverage: Coverage,
    /// Which phases of which steps the executions came to behind their last fault.
    pub places: Places,
    /// Over the (seed, plan, history hash) triples.
    pub digest: Digest,
    /// The largest number of effects that any execution had, over all its slots.
    pub most_effects: u32,
    pub(crate) samples: Samples,
    pub(crate) proposals: Proposals,
    pub(crate) tally: Tally,
}

impl Level {
    pub(crate) fn of(faults: u8) -> Self {
        Level {
            faults,
            ..Level::default()
        }
    }

    /// True if every plan of the level ran.
    pub fn is_exhausted(&self) -> bool {
        self.cut.is_none()
    }

    /// Adds the outcome of the plan at `rank`.
    pub(crate) fn add(&mut self, rank: &Rank<'_>, outcome: &Outcome, wanted: bool) {
        let judgement = &outcome.judgement;
        self.plans += 1;
        *self.verdicts.entry(judgement.verdict).or_default() += 1;
        self.most_effects = self.most_effects.max(all_effects(judgement));
        self.coverage.add(rank.faults);
        if judgement.failure {
            self.failing += 1;
            *self.failing_verdicts.entry(judgement.verdict).or_default() += 1;
            keep_if_first(&mut self.first_failing, rank, outcome);
            self.symptoms.add(
                judgement,
                rank.faults,
                |first| rank.precedes(&first.rank()),
                || example(rank, outcome),
            );
        }
        if wanted {
            self.matching += 1;
            keep_if_first(&mut self.first_matching, rank, outcome);
        }
    }

    /// Adds the plan at `rank`, whose execution was cut where a plan without failure has been.
    pub(crate) fn add_cut(&mut self, rank: &Rank<'_>, verdict: Verdict) {
        self.plans += 1;
        *self.verdicts.entry(verdict).or_default() += 1;
        self.coverage.add(rank.faults);
    }

    /// The summary of both parts of a level.
    pub(crate) fn merge(mut self, other: Level) -> Level {
        self.cut = self.cut.max(other.cut);
        self.plans += other.plans;
        self.executions += other.executions;
        self.repeated += other.repeated;
        self.failing += other.failing;
        self.matching += other.matching;
        self.next_plans += other.next_plans;
        add_counts(&mut self.verdicts, other.verdicts);
        add_counts(&mut self.failing_verdicts, other.failing_verdicts);
        self.symptoms.merge(other.symptoms);
        keep_first(&mut self.first_failing, other.first_failing);
        keep_first(&mut self.first_matching, other.first_matching);
        self.coverage.merge(&other.coverage);
        self.places.merge(&other.places);
        self.digest.merge(other.digest);
        self.most_effects = self.most_effects.max(other.most_effects);
        self.merged += other.merged;
        for (resting, proposal) in other.proposals {
            propose(&mut self.proposals, resting, proposal);
        }
        self.tally.merge(&other.tally);
        self
    }
}

fn all_effects(judgement: &Judgement) -> u32 {
    judgement
        .slots
        .iter()
        .fold(0, |sum, slot| sum.saturating_add(slot.effects))
}

fn keep_if_first(kept: &mut Option<Counterexample>, rank: &Rank<'_>, outcome: &Outcome) {
    if kept.as_ref().is_none_or(|kept| rank.precedes(&kept.rank())) {
        *kept = Some(example(rank, outcome));
    }
}

pub(crate) fn example(rank: &Rank<'_>, outcome: &Outcome) -> Counterexample {
    Counterexample {
        seed: rank.seed,
        plan: scenarios::spec::Plan {
            faults: rank.faults.to_vec(),
        },
        judgement: outcome.judgement.clone(),
        trace_hash: outcome.trace_hash,
        places: SmallVec::from_slice(rank.places),
    }
}

fn add_counts(counts: &mut BTreeMap<Verdict, u64>, more: BTreeMap<Verdict, u64>) {
    for (verdict, count) in more {
        *counts.entry(verdict).or_default() += count;
    }
}
