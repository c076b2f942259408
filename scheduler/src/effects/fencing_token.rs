//! `fencing_token`: every request carries a number that grows with each owner of the run, and the
//! downstream refuses a smaller one than it has seen.
//!
//! **Promises** that an owner who has been superseded, and whose successor has already called,
//! changes nothing any more.
//! **Breaks** where the successor calls after the effect: a greater number is not a repeated
//! request. With a guard that counts no owners the number is that of the attempt, and the same in
//! every delivery.
//! **Source**: S0.10, S1.12.

use super::{Effect, EffectError, Protection, call};
use crate::ports::{Fut, Request};
use serde::{Deserialize, Serialize};

/// `kind = "fencing_token"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FencingTokenConfig {}

/// Calls with the token.
pub(super) struct FencingToken;

impl Protection for FencingToken {
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        let attempt = u64::from(effect.ids.attempt);
        Box::pin(call(
            effect,
            Request {
                key: None,
                fence: Some(effect.permit.fence.unwrap_or(attempt)),
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProtectionConfig, perform_as};
    use super::*;
    use crate::guards::Permit;
    use crate::memory::bench::Bench;

    #[test]
    fn a_superseded_owner_changes_nothing_and_its_successor_does() {
        let bench = Bench::new();
        let config = ProtectionConfig::FencingToken(FencingTokenConfig {});
        let owner = |fence| Permit {
            fence: Some(fence),
            ..Permit::first(fence)
        };
        assert_eq!(perform_as(&bench, &config, &owner(2)), Ok(()));
        assert_eq!(
            perform_as(&bench, &config, &owner(1)),
            Err(EffectError::Superseded)
        );
        assert_eq!(bench.effects(), 1);
        assert_eq!(perform_as(&bench, &config, &owner(3)), Ok(()));
        assert_eq!(bench.effects(), 2);
    }
}
