//! What one execution gave.

use crate::RestPoint;
use evidence::{History, Judgement, TraceHash};
use scenarios::spec::Site;
use scheduler::marks::Marks;

/// A site that an execution reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The site.
    pub site: Site,
    /// Whether a message of the site's run had been accepted by then, so that an operator could
    /// replay it.
    pub replayable: bool,
}

/// What one execution gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What happened.
    pub history: History,
    /// What it means.
    pub judgement: Judgement,
    /// Every site that was reached, in the order of the moments.
    pub sites: Vec<Reached>,
    /// For each fault of the plan, in its order, whether it took effect.
    pub took_effect: Vec<bool>,
    /// The marks of the pipeline that were come to; no part of the history.
    pub marks: Marks,
    /// Identifies the execution.
    pub trace_hash: TraceHash,
    /// Where the world rested after the last fault, where somebody watched
    /// ([`crate::Setup::execute_until`]).
    pub rest_points: Vec<RestPoint>,
    /// Whether the execution was cut at the last of those: then history and judgement are of what
    /// happened until then.
    pub cut: bool,
}
