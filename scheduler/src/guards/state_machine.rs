//! stub

use super::{Guard, GuardContext, OnLost, TimeSource};
use crate::span::positive;
use crate::{Span, Switchable};
use serde::{Deserialize, Serialize};

/// `kind = "state_machine"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StateMachineConfig {
    /// How long an attempt owns its run without a heartbeat. Default 45 s.
    #[serde(deserialize_with = "positive")]
    pub lease: Span,
    /// How often the attempt extends its lease. Default 15 s.
    pub heartbeat: Switchable,
    /// Whose clock says when a lease has ended. Default: the database's, per statement.
    pub clock: TimeSource,
    /// How long a run may stay QUEUED before recovery publishes it again. Default 90 s.
    pub sweep_queued_after: Switchable,
    /// Whether only the current attempt may record how it ended. Default: yes.
    pub finalise_check: bool,
    /// What happens to the work when the lease is found lost. Default: it goes on.
    pub on_lost: OnLost,
}

impl Default for StateMachineConfig {
    fn default() -> Self {
        StateMachineConfig {
            lease: Span::secs(45),
            heartbeat: Switchable(Some(Span::secs(15))),
            clock: TimeSource::Statement,
            sweep_queued_after: Switchable(Some(Span::secs(90))),
            finalise_check: true,
            on_lost: OnLost::Continue,
        }
    }
}

impl StateMachineConfig {
    pub(super) fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        super::none::NoneConfig::default().build()
    }
}
