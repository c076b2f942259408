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

use crate::Span;
use crate::guards::{Guard, Permit, Visit};
use crate::ports::{Fut, Ports};
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
}

/// Makes an effect so that a second attempt does no harm, or less.
pub trait Protection: Send + Sync {
    /// Makes the effect (or finds it made).
    fn perform<'a>(&'a self, effect: Effect<'a>) -> Fut<'a, Result<(), EffectError>>;
}
