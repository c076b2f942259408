//! `pause`: the instance stands still for a while, and goes on as if nothing had been.
//!
//! Its connections stay open and its clocks go on: when it wakes, its leases and locks may have ended
//! without its knowing. Messages that arrive meanwhile wait. In `core` it lasts just longer than the
//! longest deadline, which outlives all the shorter ones.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const PAUSE: Description = Description {
    kind: FaultKind::Pause,
    what: "the instance stands still for the magnitude, then goes on where it was",
    source: "a stop-the-world garbage collection, a migrated or stopped virtual machine",
    amount: Amount::Lasting,
    places: &[
        (Scope::Steps, Phase::Before),
        (Scope::Waits, Phase::Request),
        (Scope::Waits, Phase::Done),
    ],
    core: &[(Scope::Steps, Phase::Before)],
};
