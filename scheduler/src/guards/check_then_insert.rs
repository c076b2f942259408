//! stub

use super::{Guard, GuardContext};
use serde::{Deserialize, Serialize};

/// `kind = "check_then_insert"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckThenInsertConfig {
    /// Whether the database refuses a second row with the same key. Default: no.
    pub unique_index: bool,
    /// When the row is inserted. Default: before the work.
    pub insert: InsertWhen,
}

/// When the row is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertWhen {
    /// Before the work, as RUNNING.
    #[default]
    Before,
    /// After the work, as SUCCEEDED: a crash between work and insert is run again.
    After,
}

impl CheckThenInsertConfig {
    pub(super) fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        super::none::NoneConfig::default().build()
    }
}
