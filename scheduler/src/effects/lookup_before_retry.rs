//! stub

use super::{Effect, EffectError, Protection};
use crate::ports::Fut;
use serde::{Deserialize, Serialize};

/// `kind = "lookup_before_retry"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookupBeforeRetryConfig {}

/// stub
pub(super) struct LookupBeforeRetry;

impl Protection for LookupBeforeRetry {
    fn perform<'a>(&'a self, _: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(std::future::ready(Err(EffectError::Refused)))
    }
}
