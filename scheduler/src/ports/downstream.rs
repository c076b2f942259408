//! The outside world: what a run is for, and what cannot be rolled back.

use super::{At, CallError, Fut};
use crate::Span;
use std::sync::Arc;

/// A request to change the outside world.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Request {
    /// Idempotency key, where the protection sends one.
    pub key: Option<Arc<str>>,
    /// Fencing token, where the protection sends one.
    pub fence: Option<u64>,
}

/// What the downstream answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The effect happened now.
    Performed,
    /// The key is known: the effect happened before; nothing happened now.
    Repeated,
    /// A request with this key is still in flight: the outcome is not known yet.
    InProgress,
    /// The fencing token has been superseded; nothing happened.
    Stale,
    /// The key was used before with another content; nothing happened.
    Mismatch,
}

/// The downstream, as one instance is connected to it.
pub trait Downstream: Send + Sync {
    /// Changes the outside world. The answer comes within `timeout` or the outcome is unknown.
    fn perform<'a>(
        &'a self,
        at: At<'a>,
        request: Request,
        timeout: Span,
    ) -> Fut<'a, Result<Reply, CallError>>;

    /// Asks whether the effect with this key has happened.
    fn lookup<'a>(&'a self, at: At<'a>, key: &'a Arc<str>) -> Fut<'a, Result<bool, CallError>>;
}
