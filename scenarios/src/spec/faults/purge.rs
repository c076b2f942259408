//! `purge`: the downstream forgets before its time which requests it has done.
//!
//! A retention that was shortened, a table that was truncated, a cache that was flushed. Effects
//! stay, and so do fencing tokens and what is at work.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const PURGE: Description = Description {
    kind: FaultKind::Purge,
    what: "the downstream forgets every key and content of requests that are done",
    source: "a clean-up job with a wrong cutoff, a cache of keys that was flushed",
    amount: Amount::Nothing,
    places: &[(Scope::CallsOfTheForgetful, Phase::Before)],
    core: &[],
};
