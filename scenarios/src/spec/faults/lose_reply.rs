//! `lose_reply`: the server did it and the caller never hears.
//!
//! To the caller it looks exactly like `lose_request`; that the two cannot be told apart is where most
//! duplicates come from.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const LOSE_REPLY: Description = Description {
    kind: FaultKind::LoseReply,
    what: "the server did it, the reply is lost, and the caller times out",
    source: "S0.2: a publish confirm that never came back",
    amount: Amount::Nothing,
    places: &[(Scope::Calls, Phase::Done)],
    core: &[(Scope::Calls, Phase::Done)],
};
