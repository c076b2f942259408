//! Is a certificate still true? Runs its sample, or all of it, and compares.

use super::{Certificate, CertificateError, Claim, Refused};
use crate::execute::perform;
use crate::{Bound, Check, Control, Execute, Expectation, ExploreError, check};
use rayon::prelude::*;
use scenarios::spec::Bounds;
use scenarios::{Scenario, Token};
use thiserror::Error;

/// Why a certificate does not hold here and now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// It is not one that can be verified.
    #[error("{0}")]
    Unusable(#[from] CertificateError),
    /// A plan gives another history.
    #[error(
        "plan {token} (seed {seed}) gave history {certified} when the certificate was issued, and \
         gives {now} now"
    )]
    History {
        /// The seed.
        seed: u64,
        /// The plan.
        token: String,
        /// Hash of its history, as certified.
        certified: String,
        /// And now.
        now: String,
    },
    /// The whole gives another sum.
    #[error("{what} was {certified} when the certificate was issued, and is {now} now")]
    Claim {
        /// What differs.
        what: &'static str,
        /// As certified.
        certified: String,
        /// And now.
        now: String,
    },
    /// The same check gives no certificate any more.
    #[error("the same check gives no certificate now: {0}")]
    Refused(Refused),
    /// A plan of the sample fits the executions no more.
    #[error("plan {token} of the sample: {source}")]
    Sample {
        /// The plan.
        token: String,
        /// What went wrong.
        source: ExploreError,
    },
    /// An execution could not be done.
    #[error("{0}")]
    Explore(ExploreError),
}

impl Certificate {
    /// Runs the sample again and compares; says how many plans that were.
    ///
    /// # Errors
    /// The first plan, in the order of the sample, that differs.
    pub fn verify_sample(&self, execute: &dyn Execute) -> Result<u64, Mismatch> {
        let verified: Vec<Result<(), Mismatch>> = (0..self.sample.len())
            .into_par_iter()
            .map(|place| self.verify_one(place, execute))
            .collect();
        verified.into_iter().collect::<Result<Vec<()>, _>>()?;
        Ok(self.sample.len() as u64)
    }

    fn verify_one(&self, place: usize, execute: &dyn Execute) -> Result<(), Mismatch> {
        let Some(sampled) = self.sample.get(place) else {
            return Ok(());
        };
        let unreadable = |why: String| CertificateError::Token {
            number: place + 1,
            token: sampled.token.clone(),
            why,
        };
        let token = Token::decode(&sampled.token).map_err(|error| unreadable(error.to_string()))?;
        if token.seed != sampled.seed {
            return Err(unreadable("its seed is another".to_owned()).into());
        }
        let outcome = perform(execute, token.seed, &token.plan).map_err(|source| {
            let source = ExploreError::at(token.seed, &token.plan, source);
            Mismatch::Sample {
                token: sampled.token.clone(),
                source,
            }
        })?;
        let now = outcome.trace_hash.to_string();
        match now == sampled.trace_hash {
            true => Ok(()),
            false => Err(Mismatch::History {
                seed: token.seed,
                token: sampled.token.clone(),
                certified: sampled.trace_hash.clone(),
                now,
            }),
        }
    }

    /// Explores all of it again and compares; says how many plans that were.
    ///
    /// # Errors
    /// What differs; of an exploration that is cut, [`Mismatch::Refused`].
    pub fn verify_all(
        &self,
        scenario: &Scenario,
        execute: &dyn Execute,
        control: &Control,
    ) -> Result<u64, Mismatch> {
        let depths = self.claim.depths()?;
        let spaces: Vec<Bounds> = depths
            .iter()
            .map(|(space, _)| Bounds::new(scenario, *space))
            .collect();
        let bounds: Vec<Bound<'_>> = depths
            .iter()
            .zip(&spaces)
            .map(|((space, up_to), choices)| Bound {
                space: *space,
                up_to: *up_to,
                choices,
            })
            .collect();
        let checked = check(&Check {
            execute,
            seeds: &self.claim.explored.seeds.iter(),
            bounds: &bounds,
            expectation: &Expectation::Holds { faults: None },
            all_plans: false,
            show_next_up_to: 0,
            walking: crate::Walking::default(),
            control,
        })
        .map_err(Mismatch::Explore)?;
        let now = Claim::of(scenario, &checked).map_err(Mismatch::Refused)?;
        match self.claim.first_difference(&now) {
            Some(difference) => Err(difference),
            None => Ok(checked.explored.plans),
        }
    }
}

impl Claim {
    fn first_difference(&self, now: &Claim) -> Option<Mismatch> {
        let (then_explored, now_explored) = (&self.explored, &now.explored);
        let numbers = [
            (
                "the number of sites",
                then_explored.sites,
                now_explored.sites,
            ),
            (
                "the number of faults",
                then_explored.faults,
                now_explored.faults,
            ),
            (
                "the number of plans",
                then_explored.plans,
                now_explored.plans,
            ),
            (
                "the number of plans merged",
                then_explored.merged,
                now_explored.merged,
            ),
        ];
        let differs = |what, certified: String, now: String| Mismatch::Claim {
            what,
            certified,
            now,
        };
        if let Some((what, certified, now)) = numbers
            .into_iter()
            .find(|(_, certified, now)| certified != now)
        {
            return Some(differs(what, certified.to_string(), now.to_string()));
        }
        let (certified, found) = (&then_explored.digest, &now_explored.digest);
        if certified != found {
            return Some(differs("the digest", certified.clone(), found.clone()));
        }
        (self != now).then(|| {
            let listed = |claim: &Claim| {
                format!(
                    "{} steps with kinds that never struck",
                    claim.never_reached.len()
                )
            };
            differs("what it says of the space", listed(self), listed(now))
        })
    }
}
