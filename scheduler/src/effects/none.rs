//! stub

use super::{Effect, EffectError, Protection};
use crate::ports::Fut;
use serde::{Deserialize, Serialize};

/// `kind = "none"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoneConfig {}

/// stub
pub(super) struct NoProtection;

impl Protection for NoProtection {
    fn perform<'a>(&'a self, _: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(std::future::ready(Err(EffectError::Refused)))
    }
}
