//! Time, tasks and the journal of one instance.

use super::{At, Fut, SessionId, Table};
use crate::Span;
use crate::guards::TimeSource;
use crate::marks::Mark;
use evidence::{Timestamp, What};

/// Milliseconds on a clock that never jumps and goes on through a pause; only differences mean
/// anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Monotonic(pub u64);

impl Monotonic {
    /// This moment, so much later.
    pub const fn plus(self, span: Span) -> Self {
        Monotonic(self.0.saturating_add(span.ms()))
    }
}

/// What a poller would read: lets a simulator skip the polls that would find nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Outbox rows that are pending for longer than this.
    Pending {
        /// The outbox.
        table: Table,
        /// How long the writer itself has for publishing the row.
        after: Span,
    },
    /// Executions whose lease has ended, or that have been QUEUED, or FAILED past their backoff,
    /// for longer than `sweep_after`.
    Overdue {
        /// The table of runs.
        table: Table,
        /// How long a run may stay QUEUED; `None`: no sweep.
        sweep_after: Option<Span>,
        /// On whose clock leases end.
        leases: TimeSource,
    },
    /// That a session at the coordinator leads, is owed what another left behind, or is over. A
    /// client of a coordinator is told so; one of a lease looks.
    Standing {
        /// The session.
        session: SessionId,
    },
    /// That the lease in this row is over.
    Lapsed {
        /// A table with the columns of lock rows.
        table: Table,
        /// The row.
        key: &'static str,
    },
    /// Timers whose next slot has come and whose row waits, or was acquired too long ago.
    DueTimers {
        /// The table of timers.
        table: Table,
        /// How long a row may be acquired; `None`: for ever.
        recover_after: Option<Span>,
    },
    /// Rows of a queue that wait for a worker, or whose claim has ended.
    Claimable {
        /// The queue.
        table: Table,
    },
    /// Calls that failed, or that nobody has reported on for so long.
    Unanswered {
        /// The table of calls.
        table: Table,
        /// When a call without a report counts as lost; `None`: never.
        lost_after: Option<Span>,
    },
}

impl Interest {
    /// The table whose changes matter; `None`: those of no table.
    pub const fn table(&self) -> Option<Table> {
        match self {
            Interest::Pending { table, .. }
            | Interest::Overdue { table, .. }
            | Interest::Lapsed { table, .. }
            | Interest::DueTimers { table, .. }
            | Interest::Unanswered { table, .. }
            | Interest::Claimable { table } => Some(*table),
            Interest::Standing { .. } => None,
        }
    }
}

/// Why a poller was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// It is time to poll.
    Poll,
    /// The instance is stopping.
    Stop,
}

/// Tasks and sleeping.
pub trait Runtime: Send + Sync {
    /// Milliseconds since some fixed moment.
    fn monotonic(&self) -> Monotonic;

    /// Sleeps so long.
    fn sleep(&self, span: Span) -> Fut<'_, ()>;

    /// Passes a point of the pipeline that is no call (`timer.fire`): nothing happens, unless a
    /// fault strikes here.
    fn pass<'a>(&'a self, at: At<'a>) -> Fut<'a, ()>;

    /// Sleeps until this instance's wall clock should read `until`: the length is computed once,
    /// at the start, and slept on the monotonic clock, at most `cap`.
    fn wait_until<'a>(&'a self, at: At<'a>, until: Timestamp, cap: Option<Span>) -> Fut<'a, ()>;

    /// Starts a task that lives until it ends or the incarnation ends.
    fn spawn(&self, task: Fut<'static, ()>);

    /// Sleeps until the next instant `anchor + n x every` at which a poll of `interest` would
    /// find something (a real runtime: simply until the next such instant), or the instance stops.
    fn idle_until(&self, anchor: Monotonic, every: Span, interest: Interest) -> Fut<'_, Wake>;

    /// Where in its period this instance polls: instances that start together do not poll
    /// together. Counted from the zero of the monotonic clock, so that a restart does not move it.
    fn anchor(&self, at: At<'_>, every: Span) -> Monotonic {
        Monotonic(self.steady(at) % every.ms().max(1))
    }

    /// True once the instance has been asked to stop.
    fn stopping(&self) -> bool;

    /// Ends when the instance has been asked to stop.
    fn stop_requested(&self) -> Fut<'_, ()>;

    /// A number that looks random: the same for the same seed, instance, step and run, however
    /// often it is asked, in every incarnation.
    fn steady(&self, at: At<'_>) -> u64;

    /// A number that looks random: the same for the same seed, instance, step, run and occurrence.
    fn random(&self, at: At<'_>) -> u64;
}

/// What time an instance believes it is.
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn now(&self) -> Timestamp;
}

/// Where the pipeline tells what it does.
pub trait Journal: Send + Sync {
    /// One event, now, in this instance.
    fn record(&self, at: At<'_>, what: What);

    /// This mark was come to; nobody listens unless a journal says otherwise.
    fn mark(&self, mark: &'static Mark) {
        let _ = mark;
    }

    /// Which weakness the pipeline has, in a mutation run.
    #[cfg(feature = "weakened")]
    fn weakness(&self) -> Option<crate::weakness::Weakness> {
        None
    }
}
