//! `delay`: the request arrives later, perhaps after its caller has given up.
//!
//! Just past the call timeout the request is executed after its caller has gone on to something else.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const DELAY: Description = Description {
    kind: FaultKind::Delay,
    what: "the request arrives later than usual, by the magnitude",
    source: "a congested network, a full accept queue, a proxy that retries",
    amount: Amount::Lasting,
    places: &[(Scope::Calls, Phase::Request)],
    core: &[],
};
