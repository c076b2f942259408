//! What failed how: a count per verdict, layer, number of effects and causes.

use crate::counterexample::effects_of_worst;
use crate::{Counterexample, cell_of};
use evidence::{Attribution, Judgement, Layer, Verdict};
use scenarios::spec::{Cell, Fault};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// One way to fail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symptom {
    /// The verdict of the worst slot.
    pub verdict: Verdict,
    /// Where it was born, if that could be told.
    pub layer: Option<Layer>,
    /// The identifier whose absence left the layer undecided.
    pub missing: Option<&'static str>,
    /// Effects of the worst slot.
    pub effects: u32,
    /// Kind and step of the faults, sorted.
    pub by: SmallVec<[Cell; 3]>,
}

impl Symptom {
    fn of(judgement: &Judgement, faults: &[Fault]) -> Self {
        let (layer, missing) = match judgement.layer {
            Some(Attribution::Layer(layer)) => (Some(layer), None),
            Some(Attribution::Undecided { missing }) => (None, Some(missing)),
            None => (None, None),
        };
        let mut by: SmallVec<[Cell; 3]> = faults.iter().map(cell_of).collect();
        by.sort_unstable();
        Symptom {
            verdict: judgement.verdict,
            layer,
            missing,
            effects: effects_of_worst(judgement),
            by,
        }
    }
}

/// How often a symptom was seen, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Number of (seed, plan) pairs.
    pub count: u64,
    /// The canonically first of them.
    pub first: Counterexample,
}

/// The symptoms of a level, in order; at most [`Symptoms::MOST`].
///
/// Where there are more, the last in order are left out, whoever saw them first: what is kept is
/// complete and does not depend on threads.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Symptoms {
    pub(crate) seen: BTreeMap<Symptom, Seen>,
    pub(crate) left_out: bool,
}

impl Symptoms {
    /// How many are kept.
    pub const MOST: usize = 4096;

    /// Every symptom kept, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Symptom, &Seen)> {
        self.seen.iter()
    }

    /// True if there were more than [`Symptoms::MOST`].
    pub fn left_out(&self) -> bool {
        self.left_out
    }

    /// Counts a failing execution; `example` is asked for only if it becomes the first.
    pub(crate) fn add(
        &mut self,
        judgement: &Judgement,
        faults: &[Fault],
        is_earlier: impl FnOnce(&Counterexample) -> bool,
        example: impl FnOnce() -> Counterexample,
    ) {
        let symptom = Symptom::of(judgement, faults);
        match self.seen.get_mut(&symptom) {
            Some(seen) => {
                seen.count += 1;
                if is_earlier(&seen.first) {
                    seen.first = example();
                }
            }
            None => {
                let first = example();
                self.seen.insert(symptom, Seen { count: 1, first });
                self.trim();
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Symptoms) {
        self.left_out |= other.left_out;
        for (symptom, more) in other.seen {
            match self.seen.get_mut(&symptom) {
                Some(seen) => {
                    seen.count += more.count;
                    if more.first.rank().precedes(&seen.first.rank()) {
                        seen.first = more.first;
                    }
                }
                None => {
                    self.seen.insert(symptom, more);
                }
            }
        }
        self.trim();
    }

    /// A symptom that is dropped has [`Symptoms::MOST`] before it, here and after every merge, so
    /// it never comes back with a count that is too low.
    fn trim(&mut self) {
        while self.seen.len() > Self::MOST {
            self.seen.pop_last();
            self.left_out = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{SlotVerdict, TraceHash};
    use scenarios::spec::Plan;

    fn judgement(effects: u32) -> Judgement {
        Judgement {
            verdict: Verdict::Duplicate,
            failure: true,
            layer: None,
            slots: vec![SlotVerdict {
                slot: crate::toy::ERRAND,
                verdict: Verdict::Duplicate,
                effects,
            }],
        }
    }

    fn seen_in(order: impl Iterator<Item = u32>) -> Symptoms {
        let mut symptoms = Symptoms::default();
        for effects in order {
            let judgement = judgement(effects);
            let example = || Counterexample {
                seed: 1,
                plan: Plan::empty(),
                judgement: judgement.clone(),
                trace_hash: TraceHash(0),
                places: SmallVec::new(),
            };
            symptoms.add(&judgement, &[], |_| false, example);
        }
        symptoms
    }

    #[test]
    fn too_many_symptoms_leave_out_the_same_ones_whoever_saw_them_first() {
        let most = Symptoms::MOST as u32;
        let forwards = seen_in((0..2 * most).chain(0..2 * most));
        let backwards = seen_in((0..2 * most).rev().chain((0..2 * most).rev()));
        let mut merged = seen_in(0..2 * most);
        merged.merge(seen_in((0..2 * most).rev()));
        assert_eq!(forwards, backwards);
        assert_eq!(forwards, merged);
        assert!(forwards.left_out());
        assert_eq!(forwards.iter().count(), Symptoms::MOST);
        assert!(
            forwards
                .iter()
                .all(|(symptom, seen)| symptom.effects < most && seen.count == 2)
        );
    }

    #[test]
    fn symptoms_that_fit_leave_nothing_out() {
        assert!(!seen_in(0..Symptoms::MOST as u32).left_out());
    }
}
