//! `[topology]`: which processes there are, and how runs get from one to the other.

use scheduler::Span;
use scheduler::topologies::Role;
use serde::{Deserialize, Serialize};

/// `[topology]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// How runs travel.
    pub kind: TopologyKind,
    /// queued: processes that turn slots into messages, `scheduler-1` and so on.
    pub schedulers: u8,
    /// queued: processes that do the work, `executor-1` and so on.
    pub executors: u8,
    /// local, sharded: processes that do both, `instance-1` and so on.
    pub instances: u8,
    /// How many runs one process works on at a time.
    pub concurrency: u16,
    /// How many accepted runs may wait inside a process.
    pub queue: QueueLimit,
    /// How long a process that crashed or stopped is away.
    pub restart_after: Span,
}

impl Default for Topology {
    fn default() -> Self {
        Topology {
            kind: TopologyKind::Queued,
            schedulers: 2,
            executors: 2,
            instances: 2,
            concurrency: 1,
            queue: QueueLimit::Unlimited,
            restart_after: Span::secs(5),
        }
    }
}

impl Topology {
    /// The names of all processes, in the order of the cast.
    pub fn instance_names(&self) -> Vec<String> {
        let named = |role: &str, count: u8| -> Vec<String> {
            (1..=count).map(|n| format!("{role}-{n}")).collect()
        };
        match self.kind {
            TopologyKind::Local | TopologyKind::Sharded => named("instance", self.instances),
            TopologyKind::Queued => {
                let mut names = named("scheduler", self.schedulers);
                names.extend(named("executor", self.executors));
                names
            }
        }
    }

    /// What the process at this place of the cast does.
    pub const fn role(&self, place: u8) -> Role {
        match self.kind {
            TopologyKind::Local => Role::Instance,
            TopologyKind::Sharded => Role::Shardee,
            TopologyKind::Queued if place < self.schedulers => Role::Scheduler,
            TopologyKind::Queued => Role::Executor,
        }
    }

    /// How many of the cast, from its beginning, run timers.
    pub const fn firing(&self) -> u8 {
        match self.kind {
            TopologyKind::Local | TopologyKind::Sharded => self.instances,
            TopologyKind::Queued => self.schedulers,
        }
    }
}

/// How runs get from the timer to the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopologyKind {
    /// Every instance fires its own timers and does the work in process, as Spring @Scheduled
    /// does: a timer waits for the end of its own run before its next one.
    Local,
    /// Schedulers publish messages to a broker, executors consume them.
    #[default]
    Queued,
    /// Every instance fires the timers, and does the work of the shards that the coordinator deals
    /// to it, as Elastic-Job does: every slot is one run a shard, `report/0`, `report/1` and so on.
    Sharded,
}

impl TopologyKind {
    /// As written in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            TopologyKind::Local => "local",
            TopologyKind::Queued => "queued",
            TopologyKind::Sharded => "sharded",
        }
    }

    /// Whether runs travel through a broker.
    pub const fn has_broker(self) -> bool {
        match self {
            TopologyKind::Local | TopologyKind::Sharded => false,
            TopologyKind::Queued => true,
        }
    }

    /// Whether whoever fires a run executes it, so that there is no message.
    pub const fn executes_where_it_fires(self) -> bool {
        match self {
            TopologyKind::Local | TopologyKind::Sharded => true,
            TopologyKind::Queued => false,
        }
    }

    /// The keys of `[topology]` that say how many processes there are.
    pub(super) const fn counts(self) -> &'static str {
        match self {
            TopologyKind::Local | TopologyKind::Sharded => "`instances`",
            TopologyKind::Queued => "`schedulers` and `executors`",
        }
    }

    /// Keys of `[topology]` that belong to the others: they are not written beside this one.
    pub(super) const fn foreign_keys(self) -> &'static [&'static str] {
        match self {
            TopologyKind::Local | TopologyKind::Sharded => &["schedulers", "executors"],
            TopologyKind::Queued => &["instances"],
        }
    }
}

/// How many accepted runs may wait inside a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// Any number.
    #[default]
    Unlimited,
}
