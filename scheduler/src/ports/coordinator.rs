//! The coordinator: who is there, who leads, and who has which shard.

use super::{At, CallError, Fut};
use std::sync::Arc;

/// What is led, such as the firing of a timer.
pub type Election = Arc<str>;

/// A session of one instance; it ends when the coordinator has not heard of it for its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A number that grows with each new leader or owner: what is sent with an effect, so that the
/// outside world can refuse the one that was superseded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// What an answer about a session says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing<T> {
    /// The session lives, and this is the answer.
    Lives(T),
    /// The coordinator knows no such session (any more): the instance has to join again.
    Expired,
}

/// A shard that an instance owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 0.
    pub number: u32,
    /// Its owners so far.
    pub epoch: Epoch,
}

/// A coordinator (ZooKeeper, etcd, Kubernetes leases), as one instance is connected to it.
pub trait Coordinator: Send + Sync {
    /// Opens a session.
    fn join<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<SessionId, CallError>>;

    /// Keeps a session alive for another timeout.
    fn beat<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<()>, CallError>>;

    /// Asks to lead, or whether it still does: the epoch if it leads, `None` if another does. Who
    /// asked before stands in line.
    fn campaign<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        election: &'a Election,
    ) -> Fut<'a, Result<Standing<Option<Epoch>>, CallError>>;

    /// Which shards this session owns now.
    fn shards<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Shard>>, CallError>>;

    /// Ends a session at once, with what it leads and owns.
    fn leave<'a>(&'a self, at: At<'a>, session: SessionId) -> Fut<'a, Result<(), CallError>>;
}
