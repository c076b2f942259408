//! stub

use super::{Effect, EffectError, Protection};
use crate::ports::Fut;
use serde::{Deserialize, Serialize};

/// `kind = "quarantine"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuarantineConfig {}

/// stub
pub(super) struct Quarantine;

impl Protection for Quarantine {
    fn perform<'a>(&'a self, _: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(std::future::ready(Err(EffectError::Refused)))
    }
}
