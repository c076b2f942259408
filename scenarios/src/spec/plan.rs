//! What goes wrong in one execution.

use super::{FaultKind, Site};

/// Something that goes wrong at one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Where it strikes.
    pub site: Site,
    /// What goes wrong.
    pub kind: FaultKind,
    /// How much, in milliseconds: how long a pause, a delay or a partition lasts, by how much a
    /// clock steps (signed). 0 where the kind has no magnitude.
    pub magnitude_ms: i64,
}

/// An ordered list of faults, at most one per site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Plan {
    /// The faults, in the order in which they strike.
    pub faults: Vec<Fault>,
}

impl Plan {
    /// Nothing goes wrong.
    pub const fn empty() -> Self {
        Plan { faults: Vec::new() }
    }

    /// This plan and one more fault.
    pub fn with(&self, fault: Fault) -> Self {
        let mut faults = Vec::with_capacity(self.faults.len() + 1);
        faults.extend_from_slice(&self.faults);
        faults.push(fault);
        Plan { faults }
    }
}
