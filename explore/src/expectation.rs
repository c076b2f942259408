//! What a scenario says is true of it, in the form in which it is checked.

use crate::cell::{parse, read_alike};
use crate::counterexample::effects_of_worst;
use crate::{Level, cell_of};
use evidence::{Attribution, Judgement, Layer, Verdict};
use scenarios::file::{ExpectTable, ExpectedVerdict};
use scenarios::spec::{Cell, Fault, Plan};

/// What is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The promise holds (`exactly_once`, `holds`).
    Holds {
        /// Under every plan of so many faults or fewer; `None`: up to the bounds explored.
        faults: Option<u8>,
    },
    /// It breaks in a known way.
    Breaks(Failure),
}

/// The failure that is expected. What is `None` or empty may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of the worst slot.
    pub verdict: Verdict,
    /// Where it is born.
    pub layer: Option<Layer>,
    /// Effects of the worst slot.
    pub effects: Option<u32>,
    /// Kind and step of its faults, in the order of the plan. Fewer than the plan has: the others
    /// may be anything.
    pub by: Vec<Cell>,
    /// The smallest number of faults that does it; `None`: whichever it is.
    pub faults_needed: Option<u8>,
    /// Other failing verdicts that plans of that number of faults may give.
    pub also: Vec<Verdict>,
}

impl Expectation {
    /// As `[expect]` says it.
    ///
    /// # Errors
    /// An entry of `by` that is not `kind@step`; names it.
    pub fn of(table: &ExpectTable) -> Result<Self, String> {
        let verdict = match table.verdict {
            ExpectedVerdict::Holds | ExpectedVerdict::Is(Verdict::ExactlyOnce) => {
                return Ok(Expectation::Holds {
                    faults: table.faults,
                });
            }
            ExpectedVerdict::Is(verdict) => verdict,
        };
        Ok(Expectation::Breaks(Failure {
            verdict,
            layer: table.layer,
            effects: table.effects,
            by: table
                .by
                .iter()
                .map(|text| cell(text))
                .collect::<Result<_, _>>()?,
            faults_needed: table.faults_needed,
            also: table.also.clone(),
        }))
    }

    /// True if an execution is an example of what is expected.
    pub fn is_matched_by(&self, plan: &Plan, judgement: &Judgement) -> bool {
        match self {
            Expectation::Holds { .. } => false,
            Expectation::Breaks(failure) => {
                failure
                    .faults_needed
                    .is_none_or(|needed| plan.faults.len() == usize::from(needed))
                    && failure.is_shown_by(&plan.faults, judgement)
            }
        }
    }
}

impl Failure {
    fn is_shown_by(&self, faults: &[Fault], judgement: &Judgement) -> bool {
        self.verdict == judgement.verdict
            && self
                .layer
                .is_none_or(|layer| judgement.layer == Some(Attribution::Layer(layer)))
            && self
                .effects
                .is_none_or(|effects| effects == effects_of_worst(judgement))
            && self.is_story_of(faults)
    }

    /// True if all of `by` appears among the faults, in this order.
    fn is_story_of(&self, faults: &[Fault]) -> bool {
        let mut cells = faults.iter().map(cell_of);
        self.by
            .iter()
            .all(|part| cells.any(|cell| read_alike(*part, cell)))
    }

    /// The first failing verdict of a level that the scenario does not speak of.
    pub(crate) fn unspoken_verdict(&self, level: &Level) -> Option<Verdict> {
        level
            .failing_verdicts
            .keys()
            .copied()
            .find(|verdict| *verdict != self.verdict && !self.also.contains(verdict))
    }

    /// Entries of `also` that no plan of a level gave.
    pub(crate) fn never_seen(&self, level: &Level) -> Vec<Verdict> {
        self.also
            .iter()
            .copied()
            .filter(|verdict| !level.failing_verdicts.contains_key(verdict))
            .collect()
    }
}

fn cell(text: &str) -> Result<Cell, String> {
    parse(text).ok_or_else(|| {
        format!("`{text}` is not a kind of fault at a step, such as \"crash@guard.enter\"")
    })
}
