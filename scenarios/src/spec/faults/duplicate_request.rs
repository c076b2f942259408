//! `duplicate_request`: the request arrives twice and the server executes it twice.
//!
//! It applies to calls of which each is a request of its own. It does not apply to statements in a
//! session of the database (one ordered connection brings each of them once), nor to the long poll of a
//! consumer (the broker answers one poll at a time).

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const DUPLICATE_REQUEST: Description = Description {
    kind: FaultKind::DuplicateRequest,
    what: "the request arrives twice and the server executes it twice; the caller sees the first reply",
    source: "proxies, meshes and client libraries that repeat a request whose connection broke",
    amount: Amount::Nothing,
    places: &[(Scope::CallsThatRepeat, Phase::Request)],
    core: &[(Scope::CallsThatRepeat, Phase::Request)],
};
