//! `refuse`: the server says no and does nothing.
//!
//! A deadlock victim, a serialization failure, an overloaded server, a connection refused: the caller
//! knows at once that nothing happened. A long poll can be refused as well.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const REFUSE: Description = Description {
    kind: FaultKind::Refuse,
    what: "the server answers with a transient error and does nothing",
    source: "PostgreSQL 40001 and 40P01, HTTP 503, ECONNREFUSED",
    amount: Amount::Nothing,
    places: &[(Scope::Calls, Phase::Request)],
    core: &[],
};
