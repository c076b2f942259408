//! Executions that are run a second time, on another thread, to catch what does not repeat.
//!
//! About one plan in [`ONE_IN`] is chosen by the hash of its seed and faults, and in every level
//! the [`AT_LEAST`] plans with the smallest hash besides: the choice depends on nothing but the
//! plans.

use crate::{Execute, ExecuteError, ExploreError, execute::perform};
use evidence::TraceHash;
use scenarios::spec::Plan;
use std::thread;

/// One plan in so many is executed twice.
pub const ONE_IN: u64 = 256;

/// So many plans of each level are executed twice, or all where there are fewer.
pub const AT_LEAST: usize = 16;

/// So many share one fresh thread: starting one costs as much as several executions.
const AT_ONCE: usize = 32;

/// True if a plan with this hash is executed twice, however many others are.
pub(crate) const fn is_chosen(hash: u64) -> bool {
    hash.is_multiple_of(ONE_IN)
}

/// An execution that is to be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub hash: u64,
    pub seed: u64,
    pub plan: Plan,
    pub first: TraceHash,
}

/// The executions of a level that are still to be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Samples {
    /// Chosen by their hash; fewer than [`AT_ONCE`] of each walk.
    chosen: Vec<Repeat>,
    /// The [`AT_LEAST`] smallest of the level so far, ordered by hash.
    smallest: Vec<Repeat>,
}

impl Samples {
    /// Keeps the execution if it is to be repeated.
    pub fn offer(&mut self, hash: u64, seed: u64, plan: &Plan, first: TraceHash) {
        let repeat = || Repeat {
            hash,
            seed,
            plan: plan.clone(),
            first,
        };
        if is_chosen(hash) {
            self.chosen.push(repeat());
        }
        let is_small = self.smallest.len() < AT_LEAST
            || self
                .smallest
                .last()
                .is_some_and(|largest| hash < largest.hash);
        if is_small {
            self.keep_small(repeat());
        }
    }

    pub fn merge(&mut self, other: Samples) {
        self.chosen.extend(other.chosen);
        for small in other.smallest {
            self.keep_small(small);
        }
    }

    fn keep_small(&mut self, new: Repeat) {
        let place = self
            .smallest
            .partition_point(|kept| (kept.hash, kept.seed) < (new.hash, new.seed));
        self.smallest.insert(place, new);
        self.smallest.truncate(AT_LEAST);
    }

    /// While a level runs: repeats what was chosen, once a thread is worth it. Says how many.
    ///
    /// # Errors
    /// As of [`repeat`].
    pub fn repeat_if_many(&mut self, execute: &dyn Execute) -> Result<u64, ExploreError> {
        if self.chosen.len() < AT_ONCE {
            return Ok(0);
        }
        let repeated = repeat(execute, &self.chosen);
        self.chosen.clear();
        repeated
    }

    /// When a level is done: repeats all that has not been. Says how many.
    ///
    /// # Errors
    /// As of [`repeat`].
    pub fn repeat_rest(&mut self, execute: &dyn Execute) -> Result<u64, ExploreError> {
        let mut rest = std::mem::take(&mut self.chosen);
        let small = std::mem::take(&mut self.smallest).into_iter();
        rest.extend(small.filter(|small| !is_chosen(small.hash)));
        rest.sort_unstable_by_key(|repeat| (repeat.hash, repeat.seed));
        rest.chunks(AT_ONCE).map(|some| repeat(execute, some)).sum()
    }
}

/// Executes the plans once more, on a fresh thread, and compares. Says how many there were.
///
/// # Errors
/// [`ExploreError::NotRepeatable`] if one gives another history; the execution's own errors.
pub(crate) fn repeat(execute: &dyn Execute, repeats: &[Repeat]) -> Result<u64, ExploreError> {
    let all = || -> Result<(), ExploreError> {
        repeats
            .iter()
            .try_for_each(|repeat| repeat_one(execute, repeat))
    };
    let ended = thread::scope(|scope| {
        match thread::Builder::new().spawn_scoped(scope, all) {
            Ok(thread) => thread.join().ok(),
            // Out of threads: the same thread is better than no second execution.
            Err(_) => Some(all()),
        }
    });
    match (ended, repeats) {
        (Some(result), _) => result?,
        (None, [first, ..]) => {
            return Err(ExploreError::at(
                first.seed,
                &first.plan,
                ExecuteError::Panicked,
            ));
        }
        (None, []) => {}
    }
    Ok(repeats.len() as u64)
}

fn repeat_one(execute: &dyn Execute, repeat: &Repeat) -> Result<(), ExploreError> {
    let (seed, plan) = (repeat.seed, &repeat.plan);
    let again =
        perform(execute, seed, plan).map_err(|source| ExploreError::at(seed, plan, source))?;
    if again.trace_hash == repeat.first {
        return Ok(());
    }
    Err(ExploreError::NotRepeatable {
        seed,
        plan: plan.clone(),
        first: repeat.first,
        again: again.trace_hash,
    })
}
