//! Why there is no certificate: it would say nothing.

use crate::{Doubt, Met, Unmet};
use scenarios::spec::Cell;
use thiserror::Error;

/// Why a check gives no certificate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The scenario states a failure.
    #[error("what is expected is a failure ({0}), not a promise")]
    NotAPromise(String),
    /// One plan was run, not a space.
    #[error("the scenario states its plan, so that no space is exhausted")]
    StatedPlan,
    /// The promise breaks.
    #[error("{0}")]
    Unmet(Unmet),
    /// It is not known whether the promise holds.
    #[error("{0}")]
    Doubt(Doubt),
    /// Not every plan within the bounds ran.
    #[error("the bounds were not exhausted")]
    NotExhausted,
    /// No fault can strike anywhere.
    #[error("no site was reached at which a fault of the space applies")]
    NoSites,
    /// No fault has struck anywhere, although some were to.
    #[error("no fault took effect anywhere")]
    NothingStruck,
    /// `[expect] by` names what never happened.
    #[error("the scenario names {cell}, which no plan reached: {why}")]
    NeverReached {
        /// What it names.
        cell: Cell,
        /// Why it was not reached.
        why: String,
    },
}

impl Refused {
    /// True if the promise was tried and does not hold, which has an exit code of its own.
    pub const fn is_unmet(&self) -> bool {
        matches!(self, Refused::Unmet(_))
    }

    pub(super) fn unless(met: &Met) -> Result<(), Refused> {
        match met {
            Met::Yes => Ok(()),
            Met::No(unmet) => Err(Refused::Unmet(unmet.clone())),
            Met::Inconclusive(doubt) => Err(Refused::Doubt(doubt.clone())),
        }
    }
}
