//! The coordinator: the model of `servers`, whose members are instances.

use crate::agenda::Ms;
use scenarios::file::CoordinatorTable;
use scheduler::ports::{Election, Epoch, SessionId, Shard, Standing};
use servers::coordinator::{Coordinator, Expired, Profile};

/// What a call asks of the coordinator.
#[derive(Clone, Debug)]
pub(crate) enum CoordinatorRequest {
    Join,
    Beat(SessionId),
    Campaign(SessionId, Election),
    Shards(SessionId),
    Leave(SessionId),
}

/// What it answers.
#[derive(Debug)]
pub(crate) enum Coordinated {
    Joined(SessionId),
    Beaten(Standing<()>),
    Leads(Standing<Option<Epoch>>),
    Owns(Standing<Vec<Shard>>),
    Left,
}

/// The coordinator that a scenario describes; without one nobody has steps that ask it.
pub(crate) fn open(table: Option<&CoordinatorTable>) -> Coordinator<u8> {
    match table {
        Some(table) => Coordinator::new(table.terms(), table.shards),
        None => Coordinator::new(Profile::KUBERNETES, 0),
    }
}

/// Does what the request of an instance says.
pub(crate) fn handle(
    coordinator: &mut Coordinator<u8>,
    now: Ms,
    instance: u8,
    request: CoordinatorRequest,
) -> Coordinated {
    match request {
        CoordinatorRequest::Join => Coordinated::Joined(coordinator.join(now, instance)),
        CoordinatorRequest::Beat(session) => {
            Coordinated::Beaten(standing(coordinator.beat(now, session).map(drop)))
        }
        CoordinatorRequest::Campaign(session, election) => {
            Coordinated::Leads(standing(coordinator.campaign(now, session, &election)))
        }
        CoordinatorRequest::Shards(session) => {
            Coordinated::Owns(standing(coordinator.shards(now, session)))
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
