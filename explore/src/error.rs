//! Why an exploration cannot be trusted, or could not be run.

use crate::{ExecuteError, cell_of};
use evidence::{TraceHash, Verdict};
use scenarios::spec::{Cell, FaultSpec, Plan};
use thiserror::Error;

/// An exploration that ended without a result; the plan is the reproduction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExploreError {
    /// An execution gave no outcome, or a fault of its plan took no effect.
    #[error("seed {seed}, plan [{}]: {source}", listed(.plan))]
    Execute {
        /// The seed.
        seed: u64,
        /// The plan.
        plan: Plan,
        /// What happened.
        source: ExecuteError,
    },
    /// A fault that a person described has no site in the execution.
    #[error("seed {seed}: fault {number} of the plan ({}) waits at a site that the execution does not reach", described(.fault))]
    NotFound {
        /// The seed.
        seed: u64,
        /// Which fault of the plan, from 1.
        number: usize,
        /// As it was described.
        fault: FaultSpec,
    },
    /// An execution that was cut in a known state comes to something else when it is not: the
    /// state leaves out something that the future depends on, a defect of runkey.
    #[error(
        "seed {seed}, plan [{}] was expected to end as {expected} from where it rested, and ends as {found}: a defect of runkey (--no-merging goes without)",
        listed(.plan)
    )]
    WronglyMerged {
        /// The seed.
        seed: u64,
        /// The plan.
        plan: Plan,
        /// The verdict of the plan with which it was merged.
        expected: Verdict,
        /// Its own.
        found: Verdict,
    },
    /// The same seed and plan gave two histories.
    #[error(
        "seed {seed}, plan [{}] gave history {first}, and executed again on another thread {again}: something in it does not repeat",
        listed(.plan)
    )]
    NotRepeatable {
        /// The seed.
        seed: u64,
        /// The plan.
        plan: Plan,
        /// Hash of the first history.
        first: TraceHash,
        /// Hash of the second.
        again: TraceHash,
    },
}

impl ExploreError {
    pub(crate) fn at(seed: u64, plan: &Plan, source: ExecuteError) -> Self {
        ExploreError::Execute {
            seed,
            plan: plan.clone(),
            source,
        }
    }

    /// True if a plan does not repeat, or a fault of it no longer strikes (exit code 102).
    pub const fn is_irreproducible(&self) -> bool {
        match self {
            ExploreError::Execute { source, .. } => source.is_stale_plan(),
            ExploreError::NotFound { .. } | ExploreError::NotRepeatable { .. } => true,
            ExploreError::WronglyMerged { .. } => false,
        }
    }

    /// True if the set-up could not be built (exit code 101).
    pub const fn is_set_up(&self) -> bool {
        matches!(
            self,
            ExploreError::Execute {
                source: ExecuteError::SetUp(_),
                ..
            }
        )
    }
}

fn listed(plan: &Plan) -> String {
    let causes: Vec<String> = plan
        .faults
        .iter()
        .map(|fault| cell_of(fault).to_string())
        .collect();
    causes.join(", ")
}

fn described(fault: &FaultSpec) -> Cell {
    Cell {
        step: fault.step,
        kind: fault.kind,
    }
}
