//! stub

use super::{BusyPolicy, Guard, GuardContext, Release, TimeSource};
use crate::Span;
use crate::span::positive;
use serde::{Deserialize, Serialize};

/// `kind = "lock_row"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockRowConfig {
    /// A hold longer than this counts as abandoned: another takes it over. Also written
    /// `takeover_after`. Default 40 s.
    #[serde(alias = "takeover_after", deserialize_with = "positive")]
    pub max_hold: Span,
    /// The row stays locked at least this long after it was taken, even if the work is done
    /// sooner. Default 0 s.
    pub min_hold: Span,
    /// Whose clock says when a hold has ended. Default: the database's, per statement.
    pub clock: TimeSource,
    /// How the row is given back. Default: by its owner only.
    pub release: Release,
    /// What happens to a message whose row is locked; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
}

impl Default for LockRowConfig {
    fn default() -> Self {
        LockRowConfig {
            max_hold: Span::secs(40),
            min_hold: Span::ZERO,
            clock: TimeSource::Statement,
            release: Release::OwnerChecked,
            busy: None,
        }
    }
}

impl LockRowConfig {
    pub(super) fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        super::none::NoneConfig::default().build()
    }
}
