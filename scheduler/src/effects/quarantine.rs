//! `quarantine`: an unknown outcome is left to a person.
//!
//! **Promises** that a request without an answer is never made a second time by the machine.
//! **Breaks** the promise that the run is done: somebody has to look. A crash is not an unknown
//! outcome of a call: whoever takes over calls again.
//! **Source**: S0.9, S0.15.

use super::{Effect, EffectError, Protection, call};
use crate::marks;
use crate::ports::{Fut, Request};
use serde::{Deserialize, Serialize};

/// `kind = "quarantine"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuarantineConfig {}

/// Calls, and stops where there is no answer.
pub(super) struct Quarantine;

impl Protection for Quarantine {
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>> {
        Box::pin(async move {
            call(effect, Request::default())
                .await
                .map_err(|error| match error {
                    EffectError::Unknown => {
                        effect.ports.journal.mark(&marks::QUARANTINED);
                        EffectError::Quarantined
                    }
                    other => other,
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProtectionConfig, perform};
    use super::*;
    use crate::memory::bench::Bench;

    const CONFIG: ProtectionConfig = ProtectionConfig::Quarantine(QuarantineConfig {});

    #[test]
    fn a_lost_answer_is_left_to_a_person_and_a_refusal_is_tried_again() {
        let bench = Bench::new();
        bench.downstream.lose_next_reply();
        assert_eq!(perform(&bench, &CONFIG, 1), Err(EffectError::Quarantined));
        bench.downstream.refuse_next();
        assert_eq!(perform(&bench, &CONFIG, 1), Err(EffectError::Refused));
        assert_eq!(perform(&bench, &CONFIG, 1), Ok(()));
        assert_eq!(bench.effects(), 2);
    }
}
