//! `lose_request`: the request never arrives; the caller waits until its timeout.
//!
//! The server has done nothing, but the caller cannot know.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const LOSE_REQUEST: Description = Description {
    kind: FaultKind::LoseRequest,
    what: "the request is lost on its way; nothing happens at the server, and the caller times out",
    source: "a dropped packet or a connection closed before the request was read",
    amount: Amount::Nothing,
    places: &[(Scope::Calls, Phase::Request)],
    core: &[(Scope::Calls, Phase::Request)],
};
