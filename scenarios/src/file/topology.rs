//! `[topology]`: which processes there are, and how runs get from one to the other.

use evidence::InstanceId;
use scheduler::routes::RouteKind;
use scheduler::topologies::Role;
use scheduler::topologies::routed::{BlockStrategy, RoutedConfig};
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
    /// local: processes that do both, `instance-1` and so on.
    pub instances: u8,
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
            TopologyKind::Local => named("instance", self.instances),
            TopologyKind::Queued => {
                let mut names = named("scheduler", self.schedulers);
                names.extend(named("executor", self.executors));
                names
            }
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
            TopologyKind::Queued if place < self.schedulers => Role::Scheduler,
            TopologyKind::Queued => Role::Executor,
            TopologyKind::Routed if place < self.admins => Role::Admin,
            TopologyKind::Routed => Role::Called,
        }
    }

    /// How many of the cast, from its beginning, run timers.
    pub const fn firing(&self) -> u8 {
        match self.kind {
            TopologyKind::Local => self.instances,
            TopologyKind::Queued => self.schedulers,
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
    /// Admins call executors one by one, as XXL-JOB does: no queue between.
    Routed,
}

impl TopologyKind {
    /// As written in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            TopologyKind::Local => "local",
            TopologyKind::Queued => "queued",
            TopologyKind::Routed => "routed",
        }
    }

    /// Whether runs travel through a broker.
    pub const fn has_broker(self) -> bool {
        match self {
            TopologyKind::Local | TopologyKind::Routed => false,
            TopologyKind::Queued => true,
        }
    }

    /// Whether admins call executors.
    pub const fn calls_executors(self) -> bool {
        matches!(self, TopologyKind::Routed)
    }

    /// Whether whoever fires a run executes it, so that there is no message.
    pub const fn executes_where_it_fires(self) -> bool {
        match self {
            TopologyKind::Local => true,
            TopologyKind::Queued | TopologyKind::Routed => false,
        }
    }

    /// The keys of `[topology]` that say how many processes there are.
    pub(super) const fn counts(self) -> &'static str {
        match self {
            TopologyKind::Local => "`instances`",
            TopologyKind::Queued => "`schedulers` and `executors`",
            TopologyKind::Routed => "`admins` and `executors`",
        }
    }

    /// Keys of `[topology]` that belong to the others: they are not written beside this one.
    pub(super) const fn foreign_keys(self) -> &'static [&'static str] {
        match self {
            TopologyKind::Local => &[
                "schedulers",
                "executors",
                "admins",
                "route",
                "block",
                "timeout",
                "retries",
                "lost_after",
            ],
            TopologyKind::Queued => &[
                "instances",
                "admins",
                "route",
                "block",
                "timeout",
                "retries",
                "lost_after",
            ],
            TopologyKind::Routed => &["schedulers", "instances"],
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
