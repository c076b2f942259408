//! `[downstream]`: the outside world that a run changes.

use super::lock::is_off;
use scheduler::effects::ProtectionConfig;
use scheduler::{Span, Switchable};
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
    /// What it does with a key that was used before with another content, that is, for another run.
    #[serde(skip_serializing_if = "OnMismatch::is_default")]
    pub on_mismatch: OnMismatch,
    /// How long after an effect another request for the same run counts as its duplicate, whatever
    /// its key. Default: contents are not compared. Authorize.Net: 2 minutes.
    #[serde(skip_serializing_if = "is_off")]
    pub dedup_window: Switchable,
    /// How long after an effect a look-up finds it.
    #[serde(skip_serializing_if = "is_nothing")]
    pub lookup_lag: Span,
}

impl Default for DownstreamTable {
    fn default() -> Self {
        DownstreamTable {
            protection: ProtectionConfig::default(),
            latency: Span::millis(200),
            in_flight: InFlight::Wait,
            on_mismatch: OnMismatch::Ignore,
            dedup_window: Switchable(None),
            lookup_lag: Span::ZERO,
        }
    }
}

fn is_nothing(span: &Span) -> bool {
    *span == Span::ZERO
}

impl DownstreamTable {
    /// What it does with requests that it has seen before.
    pub fn terms(&self) -> servers::downstream::Terms {
        use servers::downstream as model;
        model::Terms {
            retention: self.protection.retention().map(Span::ms),
            in_flight: match self.in_flight {
                InFlight::Wait => model::InFlight::Wait,
                InFlight::Conflict => model::InFlight::Conflict,
                InFlight::Naive => model::InFlight::Naive,
            },
            on_mismatch: match self.on_mismatch {
                OnMismatch::Ignore => model::OnMismatch::Ignore,
                OnMismatch::Refuse => model::OnMismatch::Refuse,
            },
            dedup_window: self.dedup_window.0.map(Span::ms),
            lookup_lag: self.lookup_lag.ms(),
        }
    }

    /// Whether it remembers anything that a purge could make it forget.
    pub fn remembers(&self) -> bool {
        let terms = self.terms();
        terms.retention.is_some() || terms.dedup_window.is_some()
    }
}

/// What the downstream does with a key that was used before with another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMismatch {
    /// It answers as to the first one: contents are not compared, and nothing happens.
    #[default]
    Ignore,
    /// It refuses the call for good, as Stripe does.
    Refuse,
}

impl OnMismatch {
    fn is_default(&self) -> bool {
        *self == OnMismatch::Ignore
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
