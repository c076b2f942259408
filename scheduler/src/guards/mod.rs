//! Guards: may this attempt run?
//!
//! Each guard is one file: what it promises, where it breaks, its source, its knobs, its code.
//! They are registered in [`GuardConfig`] and [`GuardConfig::build`], and nowhere else.

mod check_then_insert;
mod config;
mod insert_first;
mod kind;
mod knobs;
mod lock_row;
mod lock_then_check;
mod none;
mod open;
mod optimistic_version;
mod process_mutex;
mod record;
mod redis_lock;
mod seen_set;
mod select_for_update;
mod semaphore;
mod session_lock;
mod state_machine;
mod unique;

pub use check_then_insert::{CheckThenInsertConfig, InsertWhen};
pub use config::GuardConfig;
pub use insert_first::InsertFirstConfig;
pub use knobs::{BusyPolicy, LockBy, OnLost, Release, TimeSource};
pub use lock_row::LockRowConfig;
pub use lock_then_check::LockThenCheckConfig;
pub use none::NoneConfig;
pub use optimistic_version::OptimisticVersionConfig;
pub use process_mutex::ProcessMutexConfig;
pub use redis_lock::{Acquire, RedisLockConfig, Renew, Unlock};
pub use seen_set::{OnSeen, SeenSetConfig};
pub use select_for_update::{SelectForUpdateConfig, WorkWhen};
pub use semaphore::{Releases, SemaphoreConfig};
pub use session_lock::{Pooling, SessionLockConfig};
pub use state_machine::StateMachineConfig;
pub use unique::{UniqueBy, UniqueConfig, UniqueUntil};

use crate::ports::{CallError, Fut, Key, Statements};
use crate::{Instance, Span};
use evidence::{Ids, RecordState};

/// What a guard is asked about: one attempt to run one run.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The identifiers.
    pub ids: &'a Ids,
    /// What the guard compares (`[identity] key`).
    pub key: &'a Key,
    /// A random number that this visit, and its retries after an error, use to recognise their
    /// own writes.
    pub token: u64,
}

/// A guard's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Go ahead.
    Run(Permit),
    /// The run is done: settle the message.
    Done,
    /// Somebody else has it, or had it; this guard answers success without running it.
    Taken,
    /// Somebody else has it now: to be tried again (by `busy`: deferred, dropped or waited for).
    Busy {
        /// When a retry makes sense, from now; `None`: the guard does not know.
        retry_in: Option<Span>,
    },
    /// This guard has seen it, and lets the message be: neither settled nor given back.
    Ignored,
    /// Given up after the last attempt.
    GivenUp,
}

/// The right to run one attempt (or, where retries are made in place, a row of attempts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Number of the attempt over all deliveries where the guard keeps count, else 1.
    pub attempt: u32,
    /// Token of the owner.
    pub token: u64,
    /// Fencing token: grows with every permit for the same key; `None` where the guard has none.
    pub fence: Option<u64>,
    /// Whether an earlier attempt may already have had its effect.
    pub repeats: bool,
    /// Whether the permit was taken over from an owner whose lease had expired.
    pub taken_over: bool,
}

impl Permit {
    /// The permit of a guard that keeps no count and knows no earlier attempt.
    pub const fn first(token: u64) -> Self {
        Permit {
            attempt: 1,
            token,
            fence: None,
            repeats: false,
            taken_over: false,
        }
    }
}

/// How the work under a permit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Succeeded,
    /// Failed for now; `retry_in` is the backoff. `counts` is false where the attempt does not
    /// use up one of `max_attempts` (the downstream was still busy with an earlier one).
    Retryable {
        /// Backoff before the next attempt.
        retry_in: Span,
        /// Whether this attempt counts.
        counts: bool,
    },
    /// Failed for good, or no attempts are left.
    Final,
    /// The outcome is unknown and a person shall decide (protection `quarantine`).
    Quarantined,
    /// The guard's hold was lost and the work was cancelled.
    Cancelled,
}

impl Outcome {
    /// What a guard without a record does with the message: done, again later, or rejected.
    pub const fn settle_without_record(self) -> Settle {
        match self {
            Outcome::Succeeded => Settle::Ack,
            Outcome::Retryable { retry_in, .. } => Settle::Defer(retry_in),
            Outcome::Final | Outcome::Quarantined => Settle::Reject,
            Outcome::Cancelled => Settle::Defer(Span::ZERO),
        }
    }
}

/// What to do with the message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Settle it as done.
    Ack,
    /// Reject it for good: dead letter.
    Reject,
    /// Give it back for later.
    Defer(Span),
}

/// Where the next attempt after a retryable failure happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retries {
    /// Under the same permit, after sleeping in the executor.
    InPlace,
    /// In a later delivery: the attempt is finished, the message deferred.
    Deferred,
}

/// Decides whether an attempt may run.
///
/// A guard is built once per incarnation of an instance; what it keeps in memory ends with it.
pub trait Guard: Send + Sync {
    /// May this attempt run?
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>>;

    /// Keeps the permit alive while the work goes on (heartbeat, renewal); ends only when the
    /// permit is lost. `None`: nothing to do.
    fn hold<'a>(&'a self, visit: Visit<'a>, permit: &'a Permit) -> Option<Fut<'a, ()>> {
        let _ = (visit, permit);
        None
    }

    /// Records how the work ended and says what to do with the message.
    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>>;

    /// The statements that record success in the same transaction as an effect (protection
    /// `transactional`); none where the guard keeps no record in the database.
    fn record_success(&self, visit: Visit<'_>, permit: &Permit) -> Statements {
        let _ = (visit, permit);
        Statements::new()
    }

    /// Where the next attempt happens.
    fn retries(&self) -> Retries {
        Retries::InPlace
    }
}

/// A guard that was built elsewhere, such as by [`GuardConfig::build`].
impl<G: Guard + ?Sized> Guard for Box<G> {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        (**self).enter(visit)
    }

    fn hold<'a>(&'a self, visit: Visit<'a>, permit: &'a Permit) -> Option<Fut<'a, ()>> {
        (**self).hold(visit, permit)
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        (**self).finish(visit, permit, outcome)
    }

    fn record_success(&self, visit: Visit<'_>, permit: &Permit) -> Statements {
        (**self).record_success(visit, permit)
    }

    fn retries(&self) -> Retries {
        (**self).retries()
    }
}

/// The number that stands for a state in the table of runs.
pub const fn state_number(state: RecordState) -> i64 {
    match state {
        RecordState::Created => 0,
        RecordState::Queued => 1,
        RecordState::Running => 2,
        RecordState::Succeeded => 3,
        RecordState::Failed => 4,
        RecordState::Unknown => 5,
        RecordState::Dead => 6,
    }
}

/// The state that a number in the table of runs stands for.
pub const fn state_of(number: i64) -> Option<RecordState> {
    Some(match number {
        0 => RecordState::Created,
        1 => RecordState::Queued,
        2 => RecordState::Running,
        3 => RecordState::Succeeded,
        4 => RecordState::Failed,
        5 => RecordState::Unknown,
        6 => RecordState::Dead,
        _ => return None,
    })
}

/// What every guard is built from.
pub struct GuardContext<'a> {
    /// The instance it will live in.
    pub instance: &'a Instance,
    /// `[work.retry] max_attempts`.
    pub max_attempts: u32,
}
