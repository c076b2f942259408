//! The executors, as an admin calls them and as each of them is called.

use super::Window;
use crate::servers::executors::ExecutorsRequest;
use crate::servers::{Request, Response};
use evidence::{InstanceId, MessageId};
use scenarios::spec::Server;
use scheduler::ports::{Ask, Asked, Asking, At, Call, CallError, Executors, Fut, Said};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

impl Executors for Window {
    fn ask<'a>(&'a self, at: At<'a>, to: InstanceId, ask: Ask) -> Fut<'a, Result<Said, CallError>> {
        let ask = match ask {
            Ask::Run(call) => Ask::Run(Call {
                message: self
                    .with(|world| world.executors.mint())
                    .unwrap_or(MessageId(0)),
                ..call
            }),
            other => other,
        };
        let request = Request::Executors(ExecutorsRequest { to: to.0, ask });
        self.call(at, Server::Executors, request, |response| match response {
            Response::Said(said) => Some(said),
            _ => None,
        })
    }

    fn next(&self) -> Fut<'_, Asked> {
        Box::pin(Next(self))
    }

    fn say(&self, asking: Asking, said: Said) {
        self.with(|world| world.executor_says(asking, said));
    }

    fn over(&self, asking: Asking) {
        self.with(|world| world.executors.over(asking));
    }
}

/// Waits inside an executor for what it is asked next.
struct Next<'a>(&'a Window);

impl Future for Next<'_> {
    type Output = Asked;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Asked> {
        let instance = self.0.instance;
        let next = self.0.with(|world| {
            world.tasks.wait(cx.waker());
            let task = world.tasks.current;
            world.executors.next(instance, task)
        });
        next.flatten().map_or(Poll::Pending, Poll::Ready)
    }
}
