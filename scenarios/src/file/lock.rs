//! `[lock]`: the lock service (Redis).

use serde::{Deserialize, Serialize};

/// `[lock]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockTable {
    /// Whether locks survive a restart of the service.
    pub persistence: bool,
}

impl Default for LockTable {
    fn default() -> Self {
        LockTable { persistence: true }
    }
}
