//! stub

use super::{BusyPolicy, Guard, GuardContext};
use serde::{Deserialize, Serialize};

/// `kind = "process_mutex"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessMutexConfig {
    /// What happens to a message whose key is held; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
}

impl ProcessMutexConfig {
    pub(super) fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        super::none::NoneConfig::default().build()
    }
}
