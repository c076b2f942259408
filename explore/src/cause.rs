//! A kind of fault at a step, such as `crash@guard.enter`: how a story is named, wherever and
//! whenever exactly it struck.

use scenarios::spec::{Fault, FaultKind};
use std::fmt;

/// A kind of fault at a step. Prints as `crash@guard.enter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause {
    /// What goes wrong.
    pub kind: FaultKind,
    /// At which step, by its number in `scheduler::steps`.
    pub step: u8,
}

impl Cause {
    /// The cause that a fault is an instance of.
    pub const fn of(fault: &Fault) -> Self {
        Cause {
            kind: fault.kind,
            step: fault.site.step,
        }
    }

    /// True if both are written alike: the three partitions share their name.
    pub fn reads_like(self, other: Cause) -> bool {
        self.step == other.step && self.kind.name() == other.kind.name()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match scheduler::steps::by_number(self.step) {
            Some(step) => write!(f, "{}@{}", self.kind.name(), step.name),
            None => write!(f, "{}@step {}", self.kind.name(), self.step),
        }
    }
}
