//! Executions that are run a second time, on another thread, to catch what does not repeat.
//!
//! About one plan in [`ONE_IN`] is chosen by the hash of its seed and faults, and of each batch the
//! plan with the smallest hash: the choice depends on nothing but the plans. What was cut at a known
//! state is besides run to its end once, which must be the end that was expected.

use crate::execute::perform_until;
use crate::{Execute, ExecuteError, ExploreError, execute::perform};
use evidence::{TraceHash, Verdict};
use scenarios::spec::Plan;
use sim::State;
use std::thread;

/// One plan in so many is executed twice.
pub const ONE_IN: u64 = 256;

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
    /// Where it was cut, and what it was said to come to.
    pub cut: Option<(State, Verdict)>,
}

/// The executions of a batch that are still to be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Samples {
    chosen: Vec<Repeat>,
    /// Where none was chosen: the one with the smallest hash so far.
    smallest: Option<Repeat>,
}

impl Samples {
    /// Keeps the execution if it is to be repeated.
    pub fn offer(&mut self, hash: u64, repeat: impl FnOnce() -> Repeat) {
        if is_chosen(hash) {
            self.chosen.push(repeat());
        } else if self.smallest.as_ref().is_none_or(|kept| hash < kept.hash) {
            self.smallest = Some(repeat());
        }
    }

    /// Repeats them. Says how many there were.
    ///
    /// # Errors
    /// As of [`repeat`].
    pub fn repeat(&mut self, execute: &dyn Execute) -> Result<u64, ExploreError> {
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.extend(self.smallest.take());
        chosen
            .chunks(AT_ONCE)
            .map(|some| repeat(execute, some))
            .sum()
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
    let again = match repeat.cut {
        None => perform(execute, seed, plan),
        Some((state, _)) => perform_until(execute, seed, plan, &|known| known == state),
    }
    .map_err(|source| ExploreError::at(seed, plan, source))?;
    if again.trace_hash != repeat.first {
        return Err(ExploreError::NotRepeatable {
            seed,
            plan: plan.clone(),
            first: repeat.first,
            again: again.trace_hash,
        });
    }
    match repeat.cut {
        None => Ok(()),
        Some((_, expected)) => run_to_the_end(execute, repeat, expected),
    }
}

/// The plan comes to what the plan with which it was merged came to.
fn run_to_the_end(
    execute: &dyn Execute,
    repeat: &Repeat,
    expected: Verdict,
) -> Result<(), ExploreError> {
    let (seed, plan) = (repeat.seed, &repeat.plan);
    let whole =
        perform(execute, seed, plan).map_err(|source| ExploreError::at(seed, plan, source))?;
    let found = whole.judgement.verdict;
    if found == expected && !whole.judgement.failure {
        return Ok(());
    }
    Err(ExploreError::WronglyMerged {
        seed,
        plan: plan.clone(),
        expected,
        found,
    })
}
