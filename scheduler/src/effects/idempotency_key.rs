//! stub

use super::{Effect, EffectError, Protection};
use crate::Span;
use crate::ports::Fut;
use crate::span::positive;
use serde::{Deserialize, Serialize};

/// `kind = "idempotency_key"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdempotencyKeyConfig {
    /// How long the downstream recognises a key after it was used. Default 7 days.
    #[serde(deserialize_with = "positive")]
    pub retention: Span,
}

impl Default for IdempotencyKeyConfig {
    fn default() -> Self {
        IdempotencyKeyConfig {
            retention: Span::secs(7 * 24 * 3600),
        }
    }
}

/// stub
pub(super) struct IdempotencyKey;

impl Protection for IdempotencyKey {
    fn perform<'a>(&'a self, _: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(std::future::ready(Err(EffectError::Refused)))
    }
}
