//! `[identity]`: what guards and downstream compare.

use scheduler::IdentityKey;
use serde::{Deserialize, Serialize};

/// `[identity]`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityTable {
    /// What guards and downstream compare to recognise a run.
    pub key: IdentityKey,
}
