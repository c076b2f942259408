//! `[database]`: the store of records, outbox, timers and lock rows.

use scheduler::ports::Isolation;
use serde::{Deserialize, Serialize};

/// `[database]`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseTable {
    /// Which database it behaves like.
    pub profile: DatabaseProfile,
    /// What a statement sees of other transactions.
    pub isolation: Isolation,
}

/// Which database it behaves like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseProfile {
    /// Read committed, unique indexes, row locks: what all of them have.
    #[default]
    Generic,
}
