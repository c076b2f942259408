//! The lock service: keys with an owner and a time to live.

use super::{At, CallError, Fut};
use crate::Span;
use std::sync::Arc;

/// What is locked.
pub type LockKey = Arc<str>;

/// The random value that tells owners apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u64);

/// A lock service (Redis), as one instance is connected to it.
pub trait LockService: Send + Sync {
    /// SET key token NX [PX ttl]: true if it was free. Without `ttl` it never expires.
    fn set_if_absent<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Option<Span>,
    ) -> Fut<'a, Result<bool, CallError>>;

    /// SET key token XX PX ttl: true if the key was set, by whomever; it is this token's then.
    fn set_if_present<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>>;

    /// GET key: whose it is.
    fn get<'a>(&'a self, at: At<'a>, key: &'a LockKey)
    -> Fut<'a, Result<Option<Token>, CallError>>;

    /// PEXPIRE key ttl, only for this owner if `owner` is given: true if it was done.
    fn expire<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>>;

    /// DEL key, only for this owner if `owner` is given: true if it was done.
    fn delete<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
    ) -> Fut<'a, Result<bool, CallError>>;
}
