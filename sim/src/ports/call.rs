//! A call, as the instance that makes it waits for it.

use super::Window;
use crate::calls::CallKey;
use crate::engine::Shared;
use crate::servers::{Request, Response};
use crate::transport::Calling;
use scenarios::spec::Server;
use scheduler::ports::{At, CallError, Fut};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How long a consumer's long poll lasts before it is renewed (the longest WaitTimeSeconds of SQS,
/// 20 s). Renewals that find nothing are not simulated.
pub(crate) const LONG_POLL_MS: u64 = 20_000;

enum State {
    New(Calling),
    Waiting(CallKey),
    Over,
}

/// Waits for the answer; makes the call when first polled.
struct CallFuture<T> {
    shared: Shared,
    state: State,
    read: fn(Response) -> Option<T>,
}

impl Window {
    /// Calls a server.
    pub(super) fn call<'a, T: 'a>(
        &self,
        at: At<'_>,
        server: Server,
        request: Request,
        read: fn(Response) -> Option<T>,
    ) -> Fut<'a, Result<T, CallError>> {
        let timeout = self.shared.lock().constants.call_timeout;
        self.call_within(at, server, request, timeout, read)
    }

    /// Calls a server and waits so long for the answer.
    pub(super) fn call_within<'a, T: 'a>(
        &self,
        at: At<'_>,
        server: Server,
        request: Request,
        timeout: u64,
        read: fn(Response) -> Option<T>,
    ) -> Fut<'a, Result<T, CallError>> {
        Box::pin(CallFuture {
            shared: self.shared.clone(),
            state: State::New(Calling {
                instance: self.instance,
                incarnation: self.incarnation,
                step: at.step,
                ids: at.ids.clone(),
                server,
                long_poll: matches!(
                    request,
                    Request::Broker(crate::servers::broker::BrokerRequest::Deliver)
                ),
                request,
                timeout,
            }),
            read,
        })
    }
}

impl<T> Future for CallFuture<T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut world = this.shared.lock();
        world.tasks.wait(cx.waker());
        match std::mem::replace(&mut this.state, State::Over) {
            State::New(calling) => {
                if !world.is_current(calling.instance, calling.incarnation) {
                    return Poll::Pending;
                }
                this.state = State::Waiting(world.begin_call(calling));
                Poll::Pending
            }
            State::Waiting(key) => match world.take_result(key) {
                Some(result) => Poll::Ready(result.and_then(|response| {
                    // A server answers what it was asked; anything else is a broken connection.
                    (this.read)(response).ok_or(CallError::Disconnected)
                })),
                None => {
                    this.state = State::Waiting(key);
                    Poll::Pending
                }
            },
            State::Over => Poll::Pending,
        }
    }
}

impl<T> Drop for CallFuture<T> {
    fn drop(&mut self) {
        if let State::Waiting(key) = self.state {
            self.shared.lock().abandon_call(key);
        }
    }
}
