//! `lock_restart`: the lock service restarts, and has only what was on disk.
//!
//! It applies where that is less than everything: a restart that loses nothing is an outage.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const LOCK_RESTART: Description = Description {
    kind: FaultKind::LockRestart,
    what: "the lock service is killed and back after restart_after, with the locks that were on disk",
    source: "an upgrade or a crash of a Redis without persistence, or with snapshots",
    amount: Amount::Nothing,
    places: &[(Scope::LockThatForgets, Phase::Before)],
    core: &[],
};
