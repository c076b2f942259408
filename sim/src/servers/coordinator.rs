//! The coordinator: the model of `servers`, whose members are instances.

use crate::agenda::Ms;
use scenarios::file::CoordinatorTable;
use scheduler::ports::{Election, Epoch, Item, SessionId, Shard, Standing};
use servers::coordinator::{Coordinator, Expired, Profile};

/// One incarnation of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
}

/// What a call asks of the coordinator.
#[derive(Clone, Debug)]
pub(crate) enum CoordinatorRequest {
    Join,
    Beat(SessionId),
    Campaign(SessionId, Election),
    Shards(SessionId),
    Begin(SessionId, Item),
    Finish(SessionId, u32),
    TakeOver(SessionId),
    Leave(SessionId),
}

/// What it answers.
#[derive(Debug)]
pub(crate) enum Coordinated {
    Joined(SessionId),
    Beaten(Standing<()>),
    Leads(Standing<Option<Epoch>>),
    Owns(Standing<Vec<Shard>>),
    Noted(Standing<()>),
    TakenOver(Standing<Vec<Item>>),
    Left,
}

/// The coordinator that a scenario describes; without one nobody has steps that ask it.
pub(crate) fn open(table: Option<&CoordinatorTable>) -> Coordinator<Member> {
    match table {
        Some(table) => {
            let coordinator = Coordinator::new(table.terms(), table.shards);
            coordinator.failing_over(table.failover)
        }
        None => Coordinator::new(Profile::KUBERNETES, 0),
    }
}

/// Does what the request of an instance says.
pub(crate) fn handle(
    coordinator: &mut Coordinator<Member>,
    now: Ms,
    member: Member,
    request: CoordinatorRequest,
) -> Coordinated {
    match request {
        CoordinatorRequest::Join => Coordinated::Joined(coordinator.join(now, member)),
        CoordinatorRequest::Beat(session) => {
            Coordinated::Beaten(standing(coordinator.beat(now, session).map(drop)))
        }
        CoordinatorRequest::Campaign(session, election) => {
            Coordinated::Leads(standing(coordinator.campaign(now, session, &election)))
        }
        CoordinatorRequest::Shards(session) => {
            Coordinated::Owns(standing(coordinator.shards(now, session)))
        }
        CoordinatorRequest::Begin(session, item) => {
            Coordinated::Noted(standing(coordinator.begin(now, session, item)))
        }
        CoordinatorRequest::Finish(session, shard) => {
            Coordinated::Noted(standing(coordinator.finish(now, session, shard)))
        }
        CoordinatorRequest::TakeOver(session) => {
            Coordinated::TakenOver(standing(coordinator.take_over(now, session)))
        }
        CoordinatorRequest::Leave(session) => {
            coordinator.leave(now, session);
            Coordinated::Left
        }
    }
}

fn standing<T>(answer: Result<T, Expired>) -> Standing<T> {
    answer.map_or(Standing::Expired, Standing::Lives)
}
