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

/// True if a plan with this hash is executed twice at once.
pub(crate) const fn is_chosen(hash: u64) -> bool {
    hash.is_multiple_of(ONE_IN)
}

/// The plans of a level with the smallest hashes, to be executed again when the level is done.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Smallest {
    /// Ordered by hash.
    kept: Vec<Kept>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    hash: u64,
    seed: u64,
    plan: Plan,
    trace: TraceHash,
}

impl Smallest {
    pub fn offer(&mut self, hash: u64, seed: u64, plan: &Plan, trace: TraceHash) {
        let is_small = self.kept.len() < AT_LEAST
            || self.kept.last().is_some_and(|largest| hash < largest.hash);
        if is_small {
            self.insert(Kept {
                hash,
                seed,
                plan: plan.clone(),
                trace,
            });
        }
    }

    pub fn merge(&mut self, other: Smallest) {
        for kept in other.kept {
            self.insert(kept);
        }
    }

    fn insert(&mut self, new: Kept) {
        let place = self
            .kept
            .partition_point(|kept| (kept.hash, kept.seed) < (new.hash, new.seed));
        self.kept.insert(place, new);
        self.kept.truncate(AT_LEAST);
    }

    /// Executes again what was not executed twice at once; says how many.
    ///
    /// # Errors
    /// The first that does not repeat.
    pub fn execute_again(&self, execute: &dyn Execute) -> Result<u64, ExploreError> {
        let mut count = 0;
        for kept in self.kept.iter().filter(|kept| !is_chosen(kept.hash)) {
            execute_again(execute, kept.seed, &kept.plan, kept.trace)?;
            count += 1;
        }
        Ok(count)
    }
}

/// Executes the plan once more, on a fresh thread, and compares.
///
/// # Errors
/// [`ExploreError::NotRepeatable`] if it gives another history; the execution's own errors.
pub(crate) fn execute_again(
    execute: &dyn Execute,
    seed: u64,
    plan: &Plan,
    first: TraceHash,
) -> Result<(), ExploreError> {
    let again = thread::scope(|scope| {
        match thread::Builder::new().spawn_scoped(scope, || perform(execute, seed, plan)) {
            Ok(thread) => thread.join().unwrap_or(Err(ExecuteError::Panicked)),
            // Out of threads: the same thread is better than no second execution.
            Err(_) => perform(execute, seed, plan),
        }
    });
    let again = again.map_err(|source| ExploreError::at(seed, plan, source))?;
    if again.trace_hash == first {
        return Ok(());
    }
    Err(ExploreError::NotRepeatable {
        seed,
        plan: plan.clone(),
        first,
        again: again.trace_hash,
    })
}
