//! `[downstream]`: the outside world that a run changes.

use scheduler::Span;
use scheduler::effects::ProtectionConfig;
use serde::{Deserialize, Serialize};

/// `[downstream]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DownstreamTable {
    /// How it is protected against the second attempt.
    pub protection: ProtectionConfig,
    /// How long the effect takes there.
    pub latency: Span,
    /// What it does with a second call while the first with the same key is still at work.
    pub in_flight: InFlight,
}

impl Default for DownstreamTable {
    fn default() -> Self {
        DownstreamTable {
            protection: ProtectionConfig::default(),
            latency: Span::millis(200),
            in_flight: InFlight::Wait,
        }
    }
}

/// What the downstream does with a call while an earlier one with the same key is still at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InFlight {
    /// The second call waits for the first and answers as it did.
    #[default]
    Wait,
    /// The second call is answered "in progress": its outcome is unknown and uses up no attempt.
    Conflict,
    /// The key is looked up first and stored when the work is done: both calls have their effect.
    Naive,
}
