//! `crash`: the instance dies and is back after `restart_after`; everything in its memory is gone.
//!
//! Its three places around a call differ in what the server knows and what the caller knew: before the
//! call, after the server did it, after the reply. Asleep in `timer.wait` it can also die in the middle;
//! that place is not in `core`, where dying before and after the sleep stand for it.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const CRASH: Description = Description {
    kind: FaultKind::Crash,
    what: "the instance dies with everything in its memory, and is back after restart_after",
    source: "S0.3: a consumer that restarted between the effect and its ack",
    amount: Amount::Nothing,
    places: &[
        (Scope::Steps, Phase::Before),
        (Scope::Waits, Phase::Request),
        (Scope::Steps, Phase::Done),
        (Scope::Steps, Phase::Reply),
    ],
    core: &[
        (Scope::Steps, Phase::Before),
        (Scope::Steps, Phase::Done),
        (Scope::Steps, Phase::Reply),
    ],
};
