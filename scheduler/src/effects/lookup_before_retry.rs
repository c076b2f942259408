//! `lookup_before_retry`: whoever is not the first asks whether the effect is there already.
//!
//! **Promises** that an effect that can be seen is not made again.
//! **Breaks** where the first request is still on its way when the second asks, and where an attempt
//! that believes itself the first is not.
//! **Source**: S0.15.

use super::{Effect, EffectError, Protection, call, call_failed};
use crate::ports::{At, Fut, Request};
use crate::{marks, steps};
use evidence::What;
use serde::{Deserialize, Serialize};

/// `kind = "lookup_before_retry"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookupBeforeRetryConfig {}

/// Looks, then calls.
pub(super) struct LookupBeforeRetry;

/// Whether an earlier attempt may have had its effect.
fn is_retry(effect: &Effect<'_>) -> bool {
    effect.permit.repeats || effect.ids.delivery > 1 || effect.ids.attempt > 1
}

impl Protection for LookupBeforeRetry {
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(async move {
            let key = effect.visit.key;
            if is_retry(&effect) {
                let at = At::new(&steps::DOWNSTREAM_LOOKUP, effect.ids);
                let found = effect.ports.downstream.lookup(at, key).await;
                if found.map_err(|error| call_failed(effect.ports, at, error))? {
                    effect.ports.journal.record(at, What::Found);
                    effect.ports.journal.mark(&marks::FOUND);
                    return Ok(());
                }
                effect.ports.journal.record(at, What::NotFound);
                effect.ports.journal.mark(&marks::NOT_FOUND);
            }
            call(
                effect,
                Request {
                    key: Some(key.clone()),
                    fence: None,
                },
            )
            .await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProtectionConfig, perform, perform_as};
    use super::*;
    use crate::guards::Permit;
    use crate::memory::bench::Bench;

    const CONFIG: ProtectionConfig =
        ProtectionConfig::LookupBeforeRetry(LookupBeforeRetryConfig {});

    fn repeating() -> Permit {
        Permit {
            repeats: true,
            ..Permit::first(2)
        }
    }

    #[test]
    fn a_retry_finds_the_effect_and_makes_no_second_one() {
        let bench = Bench::new();
        bench.downstream.lose_next_reply();
        assert_eq!(perform(&bench, &CONFIG, 1), Err(EffectError::Unknown));
        assert_eq!(perform_as(&bench, &CONFIG, &repeating()), Ok(()));
        assert_eq!(bench.effects(), 1);
        assert_eq!(bench.told().last(), Some(&What::Found));
    }

    #[test]
    fn a_retry_that_finds_nothing_makes_the_effect() {
        let bench = Bench::new();
        bench.downstream.lose_next_request();
        assert_eq!(perform(&bench, &CONFIG, 1), Err(EffectError::Unknown));
        assert_eq!(perform_as(&bench, &CONFIG, &repeating()), Ok(()));
        assert_eq!(bench.effects(), 1);
        assert!(bench.told().contains(&What::NotFound));
    }

    #[test]
    fn a_second_delivery_and_a_second_attempt_look_as_well() {
        for (delivery, attempt) in [(2, 1), (1, 2)] {
            let mut bench = Bench::new();
            assert_eq!(perform(&bench, &CONFIG, 1), Ok(()));
            bench.ids.delivery = delivery;
            bench.ids.attempt = attempt;
            assert_eq!(perform(&bench, &CONFIG, 2), Ok(()));
            assert_eq!(bench.effects(), 1);
        }
    }

    #[test]
    fn whoever_believes_itself_the_first_does_not_look() {
        let bench = Bench::new();
        assert_eq!(perform(&bench, &CONFIG, 1), Ok(()));
        assert_eq!(perform(&bench, &CONFIG, 2), Ok(()));
        assert_eq!(bench.effects(), 2);
    }

    #[test]
    fn a_lookup_that_fails_is_no_answer() {
        let bench = Bench::new();
        bench.downstream.refuse_next();
        assert_eq!(
            perform_as(&bench, &CONFIG, &repeating()),
            Err(EffectError::Refused)
        );
        bench.downstream.lose_next_reply();
        assert_eq!(
            perform_as(&bench, &CONFIG, &repeating()),
            Err(EffectError::Unknown)
        );
        assert_eq!(bench.effects(), 0);
    }
}
