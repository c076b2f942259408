//! A call, as the instance that makes it waits for it.

use super::Window;
use crate::calls::CallKey;
use crate::servers::broker::BrokerRequest;
use crate::servers::{Request, Response};
use crate::stage::Execution;
use crate::transport::Calling;
use crate::world::World;
use scenarios::spec::Server;
use scheduler::ports::{At, CallError, Fut};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How long a consumer's long poll lasts before it is renewed (the longest WaitTimeSeconds of SQS,
/// 20 s). Renewals that find nothing are not simulated.
pub(crate) const LONG_POLL_MS: u64 = 20_000;

/// Where a caller is with its call.
#[derive(Clone, Copy)]
enum Stage {
    /// It begins when first polled.
    New,
    Waiting,
    Over,
}

/// Waits for the answer; makes the call when first polled.
struct CallFuture<T> {
    execution: Execution,
    stage: Stage,
    key: CallKey,
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
        self.call_within(at, server, request, None, read)
    }

    /// Calls a server and waits so long for the answer.
    pub(super) fn call_within<'a, T: 'a>(
        &self,
        at: At<'_>,
        server: Server,
        request: Request,
        timeout: Option<u64>,
        read: fn(Response) -> Option<T>,
    ) -> Fut<'a, Result<T, CallError>> {
        let key = self.with(|world| {
            world.prepare_call(Calling {
                instance: self.instance,
                incarnation: self.incarnation,
                step: at.step,
                ids: at.ids.clone(),
                server,
                long_poll: matches!(request, Request::Broker(BrokerRequest::Deliver)),
                request,
                timeout,
            })
        });
        let Some(key) = key else {
            return Box::pin(std::future::pending());
        };
        Box::pin(CallFuture {
            execution: self.execution,
            stage: Stage::New,
            key,
            read,
        })
    }
}

impl<T> Future for CallFuture<T> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let execution = this.execution;
        let polled = execution.with(|world| this.poll_in(world, cx));
        polled.unwrap_or(Poll::Pending)
    }
}

impl<T> CallFuture<T> {
    fn poll_in(&mut self, world: &mut World, cx: &mut Context<'_>) -> Poll<Result<T, CallError>> {
        world.tasks.wait(cx.waker());
        match self.stage {
            Stage::New => {
                self.stage = Stage::Waiting;
                world.begin_call(self.key);
                Poll::Pending
            }
            Stage::Waiting => match world.take_result(self.key) {
                Some(result) => {
                    self.stage = Stage::Over;
                    Poll::Ready(result.and_then(|response| {
                        // A server answers what it was asked; anything else is a broken connection.
                        (self.read)(response).ok_or(CallError::Disconnected)
                    }))
                }
                None => Poll::Pending,
            },
            Stage::Over => Poll::Pending,
        }
    }
}

impl<T> Drop for CallFuture<T> {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Over) {
            self.execution.with(|world| world.abandon_call(self.key));
        }
    }
}
