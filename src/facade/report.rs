//! What a check found.

use super::story::{Story, plain};
use crate::report::{CheckReport, OwnParts, Report as _, Verb};
use evidence::{Attribution, History, TraceHash, Verdict};
use explore::{Checked, Met, cell_of};
use scenarios::Scenario;
use std::fmt;

/// What a check found. Prints as what `runkey check` shows of it.
#[derive(Clone)]
pub struct Report {
    pub(super) scenario: Scenario,
    pub(super) own: OwnParts,
    pub(super) found: Found,
}

/// How it was found.
#[derive(Clone)]
pub(super) enum Found {
    /// By exploring; with the plan to show, if there is one.
    Explored(Box<Checked>, Option<Story>),
    /// By replaying a token.
    Replayed(Story),
    /// Not at all: `RUNKEY_REPLAY` asks for another check of the same test.
    PassedOver,
}

impl Report {
    /// The verdict of the plan shown, else the worst that any plan gave; `None` if nothing ran.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.found {
            Found::Explored(checked, _) => checked.verdict(),
            Found::Replayed(story) => Some(story.judgement().verdict),
            Found::PassedOver => None,
        }
    }

    /// Where the verdict of the plan shown was born.
    pub fn layer(&self) -> Option<&Attribution> {
        self.story()?.judgement().layer.as_ref()
    }

    /// Number of effects of the worst slot of the plan shown.
    pub fn effects(&self) -> Option<u32> {
        Some(self.story()?.judgement().worst()?.effects)
    }

    /// The faults of the plan shown, in order, each such as `crash@broker.ack`.
    pub fn by(&self) -> Vec<String> {
        let story = self.story().into_iter();
        story
            .flat_map(|story| &story.plan.faults)
            .map(|fault| cell_of(fault).to_string())
            .collect()
    }

    /// The smallest number of faults that breaks the promise; `None`: none was found.
    pub fn faults_needed(&self) -> Option<usize> {
        let story = self.story()?;
        story.judgement().failure.then_some(story.plan.faults.len())
    }

    /// True if every plan within the bounds ran, under every seed, and none broke the promise.
    pub fn holds(&self) -> bool {
        match &self.found {
            Found::Explored(checked, _) => {
                let failing = checked.levels.iter().any(|level| level.failing > 0);
                !failing && self.exhausted()
            }
            Found::Replayed(_) | Found::PassedOver => false,
        }
    }

    /// True if every plan within the bounds ran, under every seed.
    pub fn exhausted(&self) -> bool {
        match &self.found {
            Found::Explored(checked, _) => {
                let spaces = &checked.explored.spaces;
                !matches!(checked.met, Met::Inconclusive(_))
                    && spaces.iter().all(|space| space.exhausted)
            }
            Found::Replayed(_) | Found::PassedOver => false,
        }
    }

    /// How many (seed, plan) pairs ran.
    pub fn plans(&self) -> u64 {
        match &self.found {
            Found::Explored(checked, _) => checked.explored.plans,
            Found::Replayed(_) => 1,
            Found::PassedOver => 0,
        }
    }

    /// Everything that exploring gave; `None` for a replay.
    pub fn checked(&self) -> Option<&Checked> {
        match &self.found {
            Found::Explored(checked, _) => Some(checked),
            Found::Replayed(_) | Found::PassedOver => None,
        }
    }

    /// The history of the plan shown.
    pub fn history(&self) -> Option<&History> {
        Some(&self.story()?.outcome.history)
    }

    /// Identifies the execution of the plan shown.
    pub fn trace_hash(&self) -> Option<TraceHash> {
        Some(self.story()?.outcome.trace_hash)
    }

    /// Replays the plan shown: `RUNKEY_REPLAY=token cargo test name`.
    pub fn token(&self) -> Option<&str> {
        self.story()?.token.as_deref()
    }

    pub(super) fn story(&self) -> Option<&Story> {
        match &self.found {
            Found::Explored(_, story) => story.as_ref(),
            Found::Replayed(story) => Some(story),
            Found::PassedOver => None,
        }
    }
}

/// In one line.
impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("verdict", &self.verdict())
            .field("by", &self.by())
            .field("plans", &self.plans())
            .field("token", &self.token())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.found {
            Found::Explored(checked, story) => plain(self.own, Verb::Check, |human| {
                human.check(&CheckReport {
                    beyond: None,
                    scenario: &self.scenario,
                    checked,
                    example: story.as_ref().map(|story| story.execution(&self.scenario)),
                    claim: None,
                    sealed_in: None,
                    survivors: None,
                    elapsed: None,
                })
            }),
            Found::Replayed(story) => story.text(&self.scenario, self.own, Verb::Replay),
            Found::PassedOver => "not checked: RUNKEY_REPLAY asks for another check\n".to_owned(),
        };
        f.write_str(&text)
    }
}
