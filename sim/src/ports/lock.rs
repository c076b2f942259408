//! The lock service port.

use super::Window;
use crate::servers::lock::{LockRequest, Locked};
use crate::servers::{Request, Response};
use scenarios::spec::Server;
use scheduler::Span;
use scheduler::ports::{At, CallError, Fut, LockKey, LockService, Token};

impl Window {
    fn lock<'a>(&'a self, at: At<'a>, request: LockRequest) -> Fut<'a, Result<bool, CallError>> {
        self.command(at, request, |response| match response {
            Response::Locked(Locked::Done(done)) => Some(done),
            _ => None,
        })
    }

    /// A command, which the client library may send again by itself.
    fn command<'a, T: Send + 'a>(
        &'a self,
        at: At<'a>,
        request: LockRequest,
        read: fn(Response) -> Option<T>,
    ) -> Fut<'a, Result<T, CallError>> {
        let send = move |request| self.call(at, Server::Lock, Request::Lock(request), read);
        let retries = self.with(|world| world.constants.lock_retries);
        let Some(retries @ 1..) = retries else {
            return send(request);
        };
        Box::pin(async move {
            for _ in 0..retries {
                match send(request.clone()).await {
                    Err(CallError::TimedOut | CallError::Disconnected) => {}
                    heard => return heard,
                }
            }
            send(request).await
        })
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

    fn set_if_present<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
        token: Token,
        ttl: Span,
    ) -> Fut<'a, Result<bool, CallError>> {
        let (key, ttl) = (key.clone(), ttl.ms());
        self.lock(at, LockRequest::SetIfPresent { key, token, ttl })
    }

    fn get<'a>(
        &'a self,
        at: At<'a>,
        key: &'a LockKey,
    ) -> Fut<'a, Result<Option<Token>, CallError>> {
        let key = key.clone();
        self.command(at, LockRequest::Get { key }, |response| match response {
            Response::Locked(Locked::Owner(owner)) => Some(owner),
            _ => None,
        })
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
