//! The broker port.

use super::Window;
use super::call::LONG_POLL_MS;
use crate::servers::broker::BrokerRequest;
use crate::servers::{Request, Response};
use evidence::MessageId;
use scenarios::spec::Server;
use scheduler::Span;
use scheduler::ports::{
    At, Broker, CallError, Delivery, Envelope, Fut, Published, Receipt, Settled,
};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

fn settled(response: Response) -> Option<Settled> {
    match response {
        Response::Settled(settled) => Some(settled),
        _ => None,
    }
}

impl Window {
    fn settle<'a>(
        &self,
        at: At<'a>,
        request: BrokerRequest,
    ) -> Fut<'a, Result<Settled, CallError>> {
        self.call(at, Server::Broker, Request::Broker(request), settled)
    }
}

/// A publish without confirms: it counts as done when it is sent, and nobody hears what became of
/// it.
struct Sent<'a>(Fut<'a, Result<Published, CallError>>);

impl Future for Sent<'_> {
    type Output = Result<Published, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(answer),
            Poll::Pending => Poll::Ready(Ok(Published {
                message: MessageId(0),
                deduplicated: false,
            })),
        }
    }
}

impl Broker for Window {
    fn publish<'a>(
        &'a self,
        at: At<'a>,
        envelope: Envelope,
    ) -> Fut<'a, Result<Published, CallError>> {
        let request = Request::Broker(BrokerRequest::Publish(envelope));
        let publish = self.call(at, Server::Broker, request, |response| match response {
            Response::Published(published) => Some(published),
            _ => None,
        });
        match self.with(|world| world.constants.confirms) {
            Some(false) => Box::pin(Sent(publish)),
            _ => publish,
        }
    }

    fn deliver<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<Delivery, CallError>> {
        let request = Request::Broker(BrokerRequest::Deliver);
        self.call_within(
            at,
            Server::Broker,
            request,
            Some(LONG_POLL_MS),
            |response| match response {
                Response::Delivery(delivery) => Some(delivery),
                _ => None,
            },
        )
    }

    fn ack<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.settle(at, BrokerRequest::Ack(receipt))
    }

    fn reject<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.settle(at, BrokerRequest::Reject(receipt))
    }

    fn defer<'a>(
        &'a self,
        at: At<'a>,
        receipt: Receipt,
        delay: Span,
    ) -> Fut<'a, Result<Settled, CallError>> {
        self.settle(at, BrokerRequest::Defer(receipt, delay.ms()))
    }

    fn renew<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.settle(at, BrokerRequest::Renew(receipt))
    }

    fn renew_every(&self) -> Option<Span> {
        self.with(|world| world.constants.renew_every).flatten()
    }
}
