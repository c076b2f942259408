//! `clock_step`: the wall clock of the instance jumps, forwards or backwards.
//!
//! It applies before steps whose decision reads that clock, and while `timer.wait` is asleep, whose sleep
//! was computed by the old reading.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const CLOCK_STEP: Description = Description {
    kind: FaultKind::ClockStep,
    what: "the wall clock of the instance jumps by the magnitude",
    source: "a time daemon that steps the clock, a virtual machine restored from a snapshot",
    amount: Amount::Jumping,
    places: &[
        (Scope::ClockReaders, Phase::Before),
        (Scope::Waits, Phase::Request),
    ],
    core: &[],
};
