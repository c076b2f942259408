//! Effects: how the outside world is protected against the second attempt.
//!
//! Each protection is one file. They are registered in [`ProtectionConfig`] and nowhere else.

mod config;
mod fencing_token;
mod idempotency_key;
mod lookup_before_retry;
mod none;
mod quarantine;
mod transactional;

pub use config::ProtectionConfig;
pub use fencing_token::FencingTokenConfig;
pub use idempotency_key::IdempotencyKeyConfig;
pub use lookup_before_retry::LookupBeforeRetryConfig;
pub use none::NoneConfig;
pub use quarantine::QuarantineConfig;
pub use transactional::TransactionalConfig;

use crate::dispatch::failed;
use crate::guards::{Guard, Permit, Visit};
use crate::ports::{At, CallError, Fut, Ports, Reply, Request};
use crate::weakness::Weakness;
use crate::{Span, marks, steps};
use evidence::Ids;

/// One effect to be made by one attempt.
#[derive(Clone, Copy)]
pub struct Effect<'a> {
    /// The ports of the instance.
    pub ports: &'a Ports,
    /// The identifiers.
    pub ids: &'a Ids,
    /// What the guard was asked; `visit.key` is what the downstream compares.
    pub visit: Visit<'a>,
    /// The guard's permit.
    pub permit: &'a Permit,
    /// The guard, for protections that record in the same transaction.
    pub guard: &'a dyn Guard,
    /// How long the call waits for its answer.
    pub timeout: Span,
}

/// Why the effect is not known to have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum EffectError {
    /// The downstream refused; nothing happened.
    #[error("the downstream refused the call; nothing happened")]
    Refused,
    /// The call ended without an answer.
    #[error("the call ended without an answer; the outcome is unknown")]
    Unknown,
    /// The call ended without an answer and a person shall decide.
    #[error("the outcome is unknown and is left to a person")]
    Quarantined,
    /// An earlier call with this key is still in flight; this attempt does not count.
    #[error("an earlier call with this key is still in flight")]
    InProgress,
    /// A later attempt owns the run; nothing happened.
    #[error("a later attempt owns the run; nothing happened")]
    Superseded,
    /// The key was used before with another content: nothing happened, and never will.
    #[error("the key was used before with another content; nothing happened")]
    Mismatch,
}

/// Makes an effect so that a second attempt does no harm, or less.
pub trait Protection: Send + Sync {
    /// Makes the effect (or finds it made).
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>>;
}

/// Calls the downstream and says what its answer means.
async fn call(effect: Effect<'_>, request: Request) -> Result<(), EffectError> {
    let at = At::new(&steps::DOWNSTREAM_PERFORM, effect.ids);
    let downstream = &effect.ports.downstream;
    match downstream.perform(at, request, effect.timeout).await {
        Ok(Reply::Performed) => Ok(()),
        Ok(Reply::Repeated) => {
            effect.ports.journal.mark(&marks::REPEATED);
            Ok(())
        }
        Ok(Reply::InProgress) => {
            effect.ports.journal.mark(&marks::IN_PROGRESS);
            Err(EffectError::InProgress)
        }
        Ok(Reply::Stale) => Err(EffectError::Superseded),
        Ok(Reply::Mismatch) => Err(EffectError::Mismatch),
        Err(CallError::Refused) if effect.ports.weak(Weakness::RefusedIsDone) => Ok(()),
        Err(CallError::TimedOut) if effect.ports.weak(Weakness::UnknownIsDone) => Ok(()),
        Err(error) => Err(call_failed(effect.ports, at, error)),
    }
}

/// Tells the journal of a call without an answer, and what it means.
fn call_failed(ports: &Ports, at: At<'_>, error: CallError) -> EffectError {
    ports.journal.record(at, failed(error));
    match error {
        CallError::Refused => EffectError::Refused,
        CallError::TimedOut | CallError::Disconnected => {
            ports.journal.mark(&marks::UNKNOWN);
            EffectError::Unknown
        }
    }
}

#[cfg(test)]
use crate::memory::bench::Bench;

/// Makes the effect under the first permit of a visit.
#[cfg(test)]
fn perform(bench: &Bench, config: &ProtectionConfig, token: u64) -> Result<(), EffectError> {
    perform_as(bench, config, &Permit::first(token))
}

/// Makes the effect under this permit of a guard that keeps no record.
#[cfg(test)]
fn perform_as(
    bench: &Bench,
    config: &ProtectionConfig,
    permit: &Permit,
) -> Result<(), EffectError> {
    let guard = bench.guard(&crate::guards::GuardConfig::default());
    crate::memory::block_on(config.build().perform(Effect {
        ports: bench.ports(),
        ids: &bench.ids,
        visit: bench.visit(permit.token),
        permit,
        guard: &*guard,
        timeout: Span::secs(3),
    }))
}
