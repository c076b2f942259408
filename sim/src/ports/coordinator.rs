//! The coordinator port.

use super::Window;
use crate::servers::coordinator::{Coordinated, CoordinatorRequest};
use crate::servers::{Request, Response};
use scenarios::spec::Server;
use scheduler::ports::{
    At, CallError, Coordinator, Election, Epoch, Fut, Item, Monotonic, SessionId, Shard, Standing,
};

/// The answer to one question: of a response, the part that belongs to it.
macro_rules! answer {
    ($kind:ident) => {
        |response| match response {
            Response::Coordinated(Coordinated::$kind(answer)) => Some(answer),
            _ => None,
        }
    };
}

impl Window {
    fn coordinate<'a, T: 'a>(
        &self,
        at: At<'a>,
        request: CoordinatorRequest,
        read: fn(Response) -> Option<T>,
    ) -> Fut<'a, Result<T, CallError>> {
        let request = Request::Coordinator(request);
        self.call(at, Server::Coordinator, request, read)
    }
}

impl Coordinator for Window {
    fn join<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<SessionId, CallError>> {
        self.coordinate(at, CoordinatorRequest::Join, answer!(Joined))
    }

    fn beat<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.coordinate(at, CoordinatorRequest::Beat(session), answer!(Beaten))
    }

    fn campaign<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        election: &'a Election,
    ) -> Fut<'a, Result<Standing<Option<Epoch>>, CallError>> {
        let request = CoordinatorRequest::Campaign(session, election.clone());
        self.coordinate(at, request, answer!(Leads))
    }

    fn shards<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Shard>>, CallError>> {
        self.coordinate(at, CoordinatorRequest::Shards(session), answer!(Owns))
    }

    fn begin<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        item: &'a Item,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        let request = CoordinatorRequest::Begin(session, item.clone());
        self.coordinate(at, request, answer!(Noted))
    }

    fn finish<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        shard: u32,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        let request = CoordinatorRequest::Finish(session, shard);
        self.coordinate(at, request, answer!(Noted))
    }

    fn take_over<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Item>>, CallError>> {
        let request = CoordinatorRequest::TakeOver(session);
        self.coordinate(at, request, answer!(TakenOver))
    }

    fn heard(&self, session: SessionId) -> Option<Monotonic> {
        let instance = self.instance;
        self.with(|world| world.heard_of_session(instance, session))
            .flatten()
            .map(Monotonic)
    }

    fn leave<'a>(&'a self, at: At<'a>, session: SessionId) -> Fut<'a, Result<(), CallError>> {
        self.coordinate(at, CoordinatorRequest::Leave(session), |response| {
            matches!(response, Response::Coordinated(Coordinated::Left)).then_some(())
        })
    }
}
