//! A level in batches: what can be done elsewhere, or has been done before.
//!
//! A batch is all plans of a level that have all but their last fault in common, under one seed.
//! What it gives is a [`Part`]; the parts of a level add up to it in any order, so that a level can
//! be shared out between machines ([`Share`]) and gone on with after an end that came too early
//! ([`Journal`]).

use crate::Level;
use crate::tally::Form;

/// Which walk of which level: one that merges and fails is walked again without merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelName {
    /// Number of faults of each plan.
    pub faults: u8,
    /// Whether plans are merged.
    pub merged: bool,
}

/// What a batch gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The summary of its plans.
    pub level: Level,
    /// How many they are, for whoever has the shorter plan.
    pub(crate) whole: Form,
}

/// Remembers finished batches. A batch is named by the hash of its seed and common faults.
pub trait Journal: Sync {
    /// What the batch gave, if it is known.
    fn finished(&self, level: LevelName, batch: u64) -> Option<Part>;

    /// A batch is finished. Whoever cannot write it down says so in its own time: the exploration
    /// goes on.
    fn finish(&self, level: LevelName, batch: u64, part: &Part);
}

/// A share of the last level: of the batches every `of`-th, by their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which, from 0.
    pub number: u64,
    /// Of how many; at least 1.
    pub of: u64,
}

impl Share {
    /// Whether the batch belongs to the share.
    pub const fn takes(self, batch: u64) -> bool {
        match batch.checked_rem(self.of) {
            Some(rest) => rest == self.number,
            None => false,
        }
    }
}
