//! A named point of the pipeline and the layer it belongs to.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where in the pipeline a duplicate or a loss is born.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// One slot became two runs, or none.
    Scheduling,
    /// One run became two messages, or none.
    Publishing,
    /// One message was handed over twice, or never.
    Delivery,
    /// One delivery was executed twice, or its run was skipped.
    Execution,
    /// One attempt changed the outside world twice.
    Effect,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Scheduling => "scheduling",
            Layer::Publishing => "publishing",
            Layer::Delivery => "delivery",
            Layer::Execution => "execution",
            Layer::Effect => "effect",
        })
    }
}

/// One entry of the append-only numbered list of steps (`scheduler::steps`).
///
/// The number is part of tokens and history hashes and never changes its meaning.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// Stable number.
    pub number: u8,
    /// Name as written in scenario files, such as `broker.ack`.
    pub name: &'static str,
    /// The layer that owns the step.
    pub layer: Layer,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
