//! The lock service port.

use super::Window;
use crate::servers::lock::LockRequest;
use crate::servers::{Request, Response};
use scenarios::spec::Server;
use scheduler::Span;
use scheduler::ports::{At, CallError, Fut, LockKey, LockService, Token};

impl Window {
    fn lock<'a>(&self, at: At<'a>, request: LockRequest) -> Fut<'a, Result<bool, CallError>> {
        self.call(
            at,
            Server::Lock,
            Request::Lock(request),
            |response| match response {
                Response::Locked(done) => Some(done),
                _ => None,
            },
        )
    }
}

impl LockService for Window {
    fn set_if_absent<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Option<Span>,
    ) -> Fut<'a, Result<bool, CallError>> {
        let ttl = ttl.map(Span::ms);
        self.lock(
            at,
            LockRequest::SetIfAbsent {
                key: key.clone(),
                token,
                ttl,
            },
        )
    }

    fn expire<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        self.lock(
            at,
            LockRequest::Expire {
                key: key.clone(),
                owner,
                ttl: ttl.ms(),
            },
        )
    }

    fn delete<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        owner: Option<Token>,
    ) -> Fut<'a, Result<bool, CallError>> {
        self.lock(
            at,
            LockRequest::Delete {
                key: key.clone(),
                owner,
            },
        )
    }
}
