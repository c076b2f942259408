//! `none`: the request says nothing that a second one could be recognised by.
//!
//! **Promises** nothing. **Breaks** with every second request; exactly once is impossible then.
//! **Source**: S0.8, S0.9.

use super::{Effect, EffectError, Protection, call};
use crate::ports::{Fut, Request};
use serde::{Deserialize, Serialize};

/// `kind = "none"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoneConfig {}

/// Just calls.
pub(super) struct NoProtection;

impl Protection for NoProtection {
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(call(effect, Request::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProtectionConfig, perform};
    use super::*;
    use crate::memory::Recognises;
    use crate::memory::bench::Bench;

    #[test]
    fn every_request_is_an_effect() {
        let bench = Bench::over(Recognises::Keys);
        let config = ProtectionConfig::default();
        assert_eq!(perform(&bench, &config, 1), Ok(()));
        assert_eq!(perform(&bench, &config, 2), Ok(()));
        assert_eq!(bench.effects(), 2);
    }

    #[test]
    fn a_lost_answer_is_an_unknown_outcome_and_a_refusal_is_none() {
        let bench = Bench::new();
        let config = ProtectionConfig::default();
        bench.downstream.lose_next_reply();
        assert_eq!(perform(&bench, &config, 1), Err(EffectError::Unknown));
        assert_eq!(bench.effects(), 1);
        bench.downstream.refuse_next();
        assert_eq!(perform(&bench, &config, 1), Err(EffectError::Refused));
        assert_eq!(bench.effects(), 1);
    }
}
