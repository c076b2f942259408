//! stub

use super::{Guard, GuardContext};
use serde::{Deserialize, Serialize};

/// `kind = "insert_first"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsertFirstConfig {}

impl InsertFirstConfig {
    pub(super) fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        super::none::NoneConfig::default().build()
    }
}
