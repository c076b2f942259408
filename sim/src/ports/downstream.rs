//! The downstream port.

use super::Window;
use crate::servers::downstream::DownstreamRequest;
use crate::servers::{Request, Response};
use scenarios::spec::Server;
use scheduler::Span;
use scheduler::ports::{At, CallError, Downstream, Fut, Reply};
use std::sync::Arc;

impl Downstream for Window {
    fn perform<'a>(
        &'a self,
        at: At<'a>,
        request: scheduler::ports::Request,
        timeout: Span,
    ) -> Fut<'a, Result<Reply, CallError>> {
        let request = Request::Downstream(DownstreamRequest::Perform(request));
        self.call_within(
            at,
            Server::Downstream,
            request,
            Some(timeout.ms()),
            |response| match response {
                Response::Reply(reply) => Some(reply),
                _ => None,
            },
        )
    }

    fn lookup<'a>(&'a self, at: At<'a>, key: &'a Arc<str>) -> Fut<'a, Result<bool, CallError>> {
        let request = Request::Downstream(DownstreamRequest::Lookup { key: key.clone() });
        self.call(at, Server::Downstream, request, |response| match response {
            Response::Found(found) => Some(found),
            _ => None,
        })
    }
}
