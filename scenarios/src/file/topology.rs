//! `[topology]`: which processes there are, and how runs get from one to the other.

use evidence::InstanceId;
use scheduler::routes::RouteKind;
use scheduler::row_queue::{StopHeartbeat, Take};
use scheduler::topologies::routed::{BlockStrategy, RoutedConfig};
use scheduler::topologies::{Role, Rows};
use scheduler::{Span, Switchable};
use serde::{Deserialize, Serialize};

/// `[topology]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// How runs travel.
    pub kind: TopologyKind,
    /// queued: processes that turn slots into messages, `scheduler-1` and so on.
    pub schedulers: u8,
    /// queued, routed: processes that do the work, `executor-1` and so on.
    pub executors: u8,
    /// local, sharded: processes that do both, `instance-1` and so on.
    pub instances: u8,
    /// polled: processes that claim due rows of the database, `worker-1` and so on.
    #[serde(skip_serializing_if = "is_two")]
    pub workers: u8,
    /// polled: what the rows are that workers claim.
    #[serde(skip_serializing_if = "is_default")]
    pub rows: Rows,
    /// polled: how often each worker looks for rows. Default 1 s.
    #[serde(skip_serializing_if = "is_a_second")]
    pub poll: Span,
    /// polled, rows of runs: how a worker claims a row. Default: atomically.
    #[serde(skip_serializing_if = "is_default")]
    pub take: Take,
    /// polled, rows of runs: when a worker that is asked to stop ends its heartbeat (`[broker]
    /// renew_every`). Default: when its work is done.
    #[serde(skip_serializing_if = "is_default")]
    pub stop_heartbeat: StopHeartbeat,
    /// How many runs one process works on at a time.
    pub concurrency: u16,
    /// How many accepted runs may wait inside a process.
    pub queue: QueueLimit,
    /// How long a process that crashed or stopped is away.
    pub restart_after: Span,
    /// routed: processes that turn slots into calls of executors, `admin-1` and so on.
    #[serde(skip_serializing_if = "is_default_admins")]
    pub admins: u8,
    /// routed: which executor an admin calls.
    #[serde(skip_serializing_if = "is_default")]
    pub route: RouteKind,
    /// routed: what an executor does with a call of a timer that it has at work or waiting.
    #[serde(skip_serializing_if = "is_default")]
    pub block: BlockStrategy,
    /// routed: after how long an executor cancels an attempt and reports it as failed (XXL-JOB's
    /// executorTimeout, 0 there for never).
    #[serde(skip_serializing_if = "is_default")]
    pub timeout: Switchable,
    /// routed: how often an admin calls again after a failure (XXL-JOB's executorFailRetryCount, 0
    /// there). With none, nobody looks for failures.
    #[serde(skip_serializing_if = "is_default")]
    pub retries: u32,
    /// routed: after how long a call without a report counts as failed, so that it is made again
    /// where there are `retries`. Default 10 minutes (XXL-JOB's JobCompleteHelper, which besides
    /// asks that the executor is no longer registered).
    #[serde(skip_serializing_if = "is_default_lost_after")]
    pub lost_after: Switchable,
}

/// Keys that joined later are left out of the hash while they say what was so before.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const ADMINS: u8 = 2;
/// 10 min: `DateUtil.addMinutes(new Date(), -10)` in JobCompleteHelper.
const LOST_AFTER: Switchable = Switchable(Some(Span::secs(600)));

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
const fn is_default_admins(admins: &u8) -> bool {
    *admins == ADMINS
}

fn is_default_lost_after(lost_after: &Switchable) -> bool {
    *lost_after == LOST_AFTER
}

fn is_two(count: &u8) -> bool {
    *count == 2
}

fn is_a_second(span: &Span) -> bool {
    *span == Span::secs(1)
}

impl Default for Topology {
    fn default() -> Self {
        Topology {
            kind: TopologyKind::Queued,
            schedulers: 2,
            executors: 2,
            instances: 2,
            workers: 2,
            rows: Rows::Timers,
            poll: Span::secs(1),
            take: Take::SkipLocked,
            stop_heartbeat: StopHeartbeat::WhenDone,
            concurrency: 1,
            queue: QueueLimit::Unlimited,
            restart_after: Span::secs(5),
            admins: ADMINS,
            route: RouteKind::default(),
            block: BlockStrategy::default(),
            timeout: Switchable(None),
            retries: 0,
            lost_after: LOST_AFTER,
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
            TopologyKind::Polled => named("worker", self.workers),
            TopologyKind::Routed => {
                let mut names = named("admin", self.admins);
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
            TopologyKind::Polled => Role::Worker,
            TopologyKind::Routed if place < self.admins => Role::Admin,
            TopologyKind::Routed => Role::Called,
        }
    }

    /// Whether whoever fires a run executes it, so that there is no message.
    pub const fn executes_where_it_fires(&self) -> bool {
        match self.kind {
            TopologyKind::Local | TopologyKind::Sharded => true,
            TopologyKind::Queued | TopologyKind::Routed => false,
            TopologyKind::Polled => matches!(self.rows, Rows::Timers),
        }
    }

    /// Whether workers poll the rows of timers.
    pub const fn polls_timers(&self) -> bool {
        matches!(self.kind, TopologyKind::Polled) && matches!(self.rows, Rows::Timers)
    }

    /// Whether runs wait for a worker in a table of the database.
    pub const fn queues_in_table(&self) -> bool {
        matches!(self.kind, TopologyKind::Polled) && matches!(self.rows, Rows::Runs)
    }

    /// Whether runs are handed over by somebody who takes them back after a deadline: a broker, or
    /// a table.
    pub const fn has_queue(&self) -> bool {
        self.kind.has_broker() || self.queues_in_table()
    }

    /// How many of the cast, from its beginning, run timers.
    pub const fn firing(&self) -> u8 {
        match self.kind {
            TopologyKind::Local | TopologyKind::Sharded => self.instances,
            TopologyKind::Queued => self.schedulers,
            TopologyKind::Polled => self.workers,
            TopologyKind::Routed => self.admins,
        }
    }

    /// How admins call executors, where they do.
    pub fn routed(&self) -> Option<RoutedConfig> {
        let executors = (0..self.executors).map(|n| InstanceId(self.admins.saturating_add(n)));
        self.kind.calls_executors().then(|| RoutedConfig {
            executors: executors.collect(),
            route: self.route,
            block: self.block,
            timeout: self.timeout,
            retries: self.retries,
            lost_after: self.lost_after,
        })
    }

    /// After how long a call without a report is made again, where that happens.
    pub fn recalls_after(&self) -> Option<Span> {
        let recalls = self.kind.calls_executors() && self.retries > 0;
        self.lost_after.0.filter(|_| recalls)
    }

    /// After how long an attempt is cancelled, where that happens.
    pub fn cancels_after(&self) -> Option<Span> {
        self.timeout.0.filter(|_| self.kind.calls_executors())
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
    /// Workers poll the database for due rows and claim them.
    Polled,
    /// Admins call executors one by one, as XXL-JOB does: no queue between.
    Routed,
}

impl TopologyKind {
    /// As written in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            TopologyKind::Local => "local",
            TopologyKind::Queued => "queued",
            TopologyKind::Sharded => "sharded",
            TopologyKind::Polled => "polled",
            TopologyKind::Routed => "routed",
        }
    }

    /// Whether runs travel through a broker.
    pub const fn has_broker(self) -> bool {
        match self {
            TopologyKind::Local
            | TopologyKind::Sharded
            | TopologyKind::Polled
            | TopologyKind::Routed => false,
            TopologyKind::Queued => true,
        }
    }

    /// Whether admins call executors.
    pub const fn calls_executors(self) -> bool {
        matches!(self, TopologyKind::Routed)
    }

    /// The keys of `[topology]` that say how many processes there are.
    pub(super) const fn counts(self) -> &'static str {
        match self {
            TopologyKind::Local | TopologyKind::Sharded => "`instances`",
            TopologyKind::Queued => "`schedulers` and `executors`",
            TopologyKind::Polled => "`workers`",
            TopologyKind::Routed => "`admins` and `executors`",
        }
    }

    /// Every kind.
    const ALL: [TopologyKind; 5] = [
        TopologyKind::Local,
        TopologyKind::Queued,
        TopologyKind::Sharded,
        TopologyKind::Polled,
        TopologyKind::Routed,
    ];

    /// Keys of `[topology]` that not every kind has, and this one does.
    const fn own_keys(self) -> &'static [&'static str] {
        match self {
            TopologyKind::Local | TopologyKind::Sharded => &["instances"],
            TopologyKind::Queued => &["schedulers", "executors"],
            TopologyKind::Polled => &["workers", "rows", "poll", "take", "stop_heartbeat"],
            TopologyKind::Routed => &[
                "admins",
                "executors",
                "route",
                "block",
                "timeout",
                "retries",
                "lost_after",
            ],
        }
    }

    /// Keys of `[topology]` that belong to the others: they are not written beside this one.
    pub(super) fn foreign_keys(self) -> impl Iterator<Item = &'static str> {
        let keys = Self::ALL.into_iter().flat_map(|kind| kind.own_keys());
        keys.copied()
            .filter(move |key| !self.own_keys().contains(key))
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
