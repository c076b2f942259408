//! The words of the judge.

use crate::{Layer, Slot};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the judge says of a slot; worst first, so that the worst of several is their minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// More than one effect for a slot.
    Duplicate,
    /// An effect that belongs to no planned slot.
    Phantom,
    /// No effect, and nothing live or listed holds the run.
    Lost,
    /// No effect, and something a person can find still holds the run.
    Stuck,
    /// The record contradicts the ledger.
    Misrecorded,
    /// No effect or unknown, recorded as dead or quarantined for a person.
    GaveUp,
    /// Retries, publishes or polls without end.
    NoProgress,
    /// One effect, and its record or message never becomes final.
    Unfinished,
    /// An effect accepted after its fencing token was superseded.
    StaleEffect,
    /// Two attempts of one run at once.
    Overlap,
    /// Earlier than the tolerance allows.
    Early,
    /// Later than the tolerance allows.
    Late,
    /// Dropped by a policy that the scenario declares.
    Skipped,
    /// One effect, recorded as done, and the world at rest.
    ExactlyOnce,
}

impl Verdict {
    /// As written in files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Duplicate => "duplicate",
            Verdict::Phantom => "phantom",
            Verdict::Lost => "lost",
            Verdict::Stuck => "stuck",
            Verdict::Misrecorded => "misrecorded",
            Verdict::GaveUp => "gave_up",
            Verdict::NoProgress => "no_progress",
            Verdict::Unfinished => "unfinished",
            Verdict::StaleEffect => "stale_effect",
            Verdict::Overlap => "overlap",
            Verdict::Early => "early",
            Verdict::Late => "late",
            Verdict::Skipped => "skipped",
            Verdict::ExactlyOnce => "exactly_once",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a set-up promises; decides which verdicts are failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// Every slot has exactly one effect, recorded as done.
    #[default]
    ExactlyOnce,
    /// Every slot has one effect or more.
    AtLeastOnce,
    /// No slot has more than one effect.
    AtMostOnce,
}

impl Promise {
    /// As written in files and output.
    pub const fn name(self) -> &'static str {
        match self {
            Promise::ExactlyOnce => "exactly_once",
            Promise::AtLeastOnce => "at_least_once",
            Promise::AtMostOnce => "at_most_once",
        }
    }
}

/// Where a verdict was born, from the identifiers alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribution {
    /// The layer.
    Layer(Layer),
    /// The identifiers do not suffice; names what is missing.
    Undecided {
        /// The missing identifier, such as `traceId`.
        missing: &'static str,
    },
}

impl fmt::Display for Attribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribution::Layer(layer) => layer.fmt(f),
            Attribution::Undecided { missing } => write!(f, "undecided ({missing} missing)"),
        }
    }
}

/// The verdict of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotVerdict {
    /// Which slot; [`Slot::NOWHERE`] for effects that name none.
    pub slot: Slot,
    /// What the judge says.
    pub verdict: Verdict,
    /// Number of effects.
    pub effects: u32,
}

/// The verdict of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The worst of the slots that break the promise; where none does, the worst of all.
    pub verdict: Verdict,
    /// Whether that breaks the promise.
    pub failure: bool,
    /// Where the worst slot's verdict was born; `None` for a verdict that is not a failure.
    pub layer: Option<Attribution>,
    /// Every slot, in order; see [`Judgement::worst`].
    pub slots: Vec<SlotVerdict>,
}

impl Judgement {
    /// The slot that the verdict is about: the first with it, and of two that are misrecorded the
    /// one without effect. `None` where nothing was planned and nothing happened.
    pub fn worst(&self) -> Option<&SlotVerdict> {
        self.slots
            .iter()
            .filter(|slot| slot.verdict == self.verdict)
            .min_by_key(|slot| slot.verdict == Verdict::Misrecorded && slot.effects > 0)
    }
}
