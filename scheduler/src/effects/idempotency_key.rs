//! `idempotency_key`: every request carries the run's key, and the downstream recognises it.
//!
//! **Promises** one effect a key, for as long as the downstream keeps keys.
//! **Breaks** with a retention shorter than the last retry is late, with a key that is not the
//! run's (new per publish, or the timer's alone), and where the downstream checks for the key without
//! holding it while the first request is in flight.
//! **Source**: S0.15.

use super::{Effect, EffectError, Protection, call};
use crate::Span;
use crate::ports::{Fut, Request};
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

/// Calls with the key.
pub(super) struct IdempotencyKey;

impl Protection for IdempotencyKey {
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(call(
            effect,
            Request {
                key: Some(effect.visit.key.clone()),
                fence: None,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProtectionConfig, perform};
    use super::*;
    use crate::memory::Recognises;
    use crate::memory::bench::Bench;

    #[test]
    fn the_second_request_is_no_second_effect() {
        let bench = Bench::over(Recognises::Keys);
        let config = ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig::default());
        bench.downstream.lose_next_reply();
        assert_eq!(perform(&bench, &config, 1), Err(EffectError::Unknown));
        assert_eq!(perform(&bench, &config, 2), Ok(()));
        assert_eq!(bench.effects(), 1);
    }

    #[test]
    fn it_is_for_the_downstream_to_recognise_the_key() {
        let bench = Bench::over(Recognises::Nothing);
        let config = ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig::default());
        assert_eq!(perform(&bench, &config, 1), Ok(()));
        assert_eq!(perform(&bench, &config, 2), Ok(()));
        assert_eq!(bench.effects(), 2);
    }
}
