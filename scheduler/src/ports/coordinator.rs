//! The coordinator: who is there, who leads, and who has which shard.

use super::{At, CallError, Fut, Monotonic};
use evidence::{RunKey, SlotTag, TraceId};
use serde::{Deserialize, Serialize};
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

/// A run of a shard, as it is written down at the coordinator while it is at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The shard.
    pub shard: u32,
    /// The run.
    pub run: RunKey,
    /// Its trace.
    pub trace: TraceId,
    /// For the judge.
    pub slot: SlotTag,
}

/// Which runs of a shard are done again by its next owner when its owner's session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failover {
    /// None: what was at work is lost if its owner died.
    #[default]
    Off,
    /// The one that was at work: the owner notes that it begins, in a note that ends with its
    /// session, and that it is done (Elastic-Job from 3.0.2).
    IfRunning,
    /// The last one, done or not (Elastic-Job before 3.0.2).
    OnLeave,
}

/// A coordinator (ZooKeeper, etcd, Kubernetes leases), as one instance is connected to it.
///
/// Its client keeps the session alive by itself, beside whatever the instance does, for as long as
/// the process runs and reaches the coordinator; nobody above this port beats.
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

    /// Notes that a run of a shard begins under this session.
    fn begin<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        item: &'a Item,
    ) -> Fut<'a, Result<Standing<()>, CallError>>;

    /// Notes that the last run of a shard is done.
    fn finish<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
        shard: u32,
    ) -> Fut<'a, Result<Standing<()>, CallError>>;

    /// Takes over what former owners of this session's shards left behind; each is begun under
    /// this session with that.
    fn take_over<'a>(
        &'a self,
        at: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Item>>, CallError>>;

    /// When the client last heard from the coordinator that this session lives; `None`: it was
    /// told that it is over.
    fn heard(&self, session: SessionId) -> Option<Monotonic>;

    /// Ends a session at once, with what it leads and owns.
    fn leave<'a>(&'a self, at: At<'a>, session: SessionId) -> Fut<'a, Result<(), CallError>>;
}
