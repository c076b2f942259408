//! One execution, as the explorer sees it: a seed and a plan go in, an outcome comes out.
//!
//! Nothing else of the simulator is visible from here, so that the same exploration can later
//! drive real servers.

use crate::Outcome;
use crate::cell_of;
use scenarios::spec::{Fault, Plan};
use sim::Known;
use std::time::Duration;
use thiserror::Error;

/// Runs one plan under one seed.
///
/// Must be a function: the same seed and plan give the same outcome, on any thread, any number of
/// times. The explorer holds it to that by running a sample twice.
///
/// Any closure `Fn(u64, &Plan) -> Result<Outcome, ExecuteError> + Sync` is one.
pub trait Execute: Sync {
    /// Runs `plan` under `seed`.
    ///
    /// # Errors
    /// See [`ExecuteError`]. A fault that took no effect may be reported either as an error or
    /// in [`Outcome::took_effect`]; both mean the same.
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError>;

    /// Runs `plan` under `seed` until it rests, all faults over, in a state that is known; tells in
    /// [`Outcome::rest_points`] where it rested. Whoever cannot tell states runs to the end, and
    /// nothing is merged.
    ///
    /// # Errors
    /// See [`ExecuteError`].
    fn execute_until(
        &self,
        seed: u64,
        plan: &Plan,
        known: Known<'_>,
    ) -> Result<Outcome, ExecuteError> {
        let _ = known;
        self.execute(seed, plan)
    }

    /// Why [`Execute::execute_until`] does not tell states; `None` where it does.
    fn opaque(&self) -> Option<&'static str> {
        Some("executions of this kind do not tell their states")
    }
}

impl<F> Execute for F
where
    F: Fn(u64, &Plan) -> Result<Outcome, ExecuteError> + Sync,
{
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        self(seed, plan)
    }
}

/// Why an execution gave no outcome.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExecuteError {
    /// The execution never came to the site of a fault of its plan.
    #[error("fault {number} of the plan ({}) waits at a site that the execution does not reach", cell_of(.fault))]
    SiteNotReached {
        /// Which fault of the plan, from 1.
        number: usize,
        /// The fault.
        fault: Fault,
    },
    /// The site was reached, and the fault changed no message, no process and no clock.
    #[error("fault {number} of the plan ({}) did not take effect", cell_of(.fault))]
    NoEffect {
        /// Which fault of the plan, from 1.
        number: usize,
        /// The fault.
        fault: Fault,
    },
    /// A handler or guard blocked its thread, and the watchdog cut the execution.
    #[error(
        "the execution was cut after {after:?} of real time: a handler, guard or downstream blocks \
         its thread, which is left behind"
    )]
    Watchdog {
        /// The limit, in real time.
        after: Duration,
    },
    /// A part of a test's own panicked where no attempt could be ended by it.
    #[error(
        "a guard, handler or downstream of the test's own panicked outside of an attempt: {message}"
    )]
    PartPanicked {
        /// What it said.
        message: String,
    },
    /// The execution panicked outside of any handler: a defect of the tool.
    #[error("the execution panicked, which is a defect of runkey")]
    Panicked,
    /// The set-up could not be built.
    #[error("the set-up could not be built: {0}")]
    SetUp(String),
}

impl ExecuteError {
    /// True if the plan does not fit the execution: it is not a plan of this set-up (any more).
    pub const fn is_stale_plan(&self) -> bool {
        matches!(
            self,
            ExecuteError::SiteNotReached { .. } | ExecuteError::NoEffect { .. }
        )
    }
}

/// Runs the plan and insists that each of its faults took effect.
///
/// # Errors
/// Those of the execution, and a fault without effect, named.
pub fn perform(execute: &dyn Execute, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
    all_took_effect(execute.execute(seed, plan)?, plan)
}

/// As [`perform`], until the execution rests in a state that is known.
///
/// # Errors
/// As of [`perform`].
pub(crate) fn perform_until(
    execute: &dyn Execute,
    seed: u64,
    plan: &Plan,
    known: Known<'_>,
) -> Result<Outcome, ExecuteError> {
    all_took_effect(execute.execute_until(seed, plan, known)?, plan)
}

fn all_took_effect(outcome: Outcome, plan: &Plan) -> Result<Outcome, ExecuteError> {
    for (place, fault) in plan.faults.iter().enumerate() {
        if outcome.took_effect.get(place) != Some(&true) {
            return Err(without_effect(&outcome, place + 1, *fault));
        }
    }
    Ok(outcome)
}

fn without_effect(outcome: &Outcome, number: usize, fault: Fault) -> ExecuteError {
    if outcome
        .sites
        .iter()
        .any(|reached| reached.site == fault.site)
    {
        ExecuteError::NoEffect { number, fault }
    } else {
        ExecuteError::SiteNotReached { number, fault }
    }
}
