//! One thing that happened, at one moment, in one instance, with all identifiers.

use crate::{Ids, InstanceId, Step, Timestamp};
use std::fmt;
use std::sync::Arc;

/// One entry of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happened, on the simulation's true clock (in a real log: as logged).
    pub at: Timestamp,
    /// Where it happened; a server's event is attributed to the instance that asked for it.
    pub instance: InstanceId,
    /// Which life of that instance, from 1.
    pub incarnation: u16,
    /// The step of the pipeline.
    pub step: &'static Step,
    /// What happened there.
    pub what: What,
    /// The identifiers.
    pub ids: Ids,
}

/// What happened at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The timer turned a slot into a run; the trace starts here.
    Fired,
    /// This instance claimed the slot.
    Claimed,
    /// Another instance holds or held the claim of the slot.
    ClaimTaken,
    /// The timer's stored position moved past the slot.
    Advanced,
    /// The slot was dropped by a policy that the scenario declares (misfire, overlap ...).
    SkippedByPolicy,
    /// The relay read the outbox and found this pending row.
    OutboxRead,
    /// The broker accepted a message (server side).
    Published,
    /// The broker recognised the producer's dedup id and dropped the message (server side).
    PublishDeduplicated,
    /// The outbox row was marked as sent.
    Marked,
    /// The broker handed the message to a consumer (server side).
    Delivered,
    /// The consumer gave the message back for a later delivery (server side).
    Deferred {
        /// Milliseconds until it is available again.
        for_ms: u32,
    },
    /// The broker settled the message as done (server side).
    Acked,
    /// An ack came from a delivery that no longer holds the message and was refused (server side).
    AckRefused,
    /// The consumer rejected the message and the broker parked it as a dead letter (server side).
    DeadLettered,
    /// The message is gone without having been processed (server side).
    Dropped,
    /// The broker extended the delivery's deadline (server side).
    Renewed,
    /// An attempt of the handler begins.
    AttemptStarted,
    /// An attempt of the handler ended.
    AttemptEnded(AttemptEnd),
    /// The handler panicked; the attempt ends as a final error.
    HandlerPanic,
    /// The guard found the run done and skipped it.
    SkippedDone,
    /// The guard found the run in somebody else's hands (or in a state it does not handle) and
    /// answered success without running it.
    SkippedTaken,
    /// The guard found the run in somebody else's hands; it will be tried again.
    Busy,
    /// The guard gave the run up after its last attempt.
    GaveUp,
    /// An execution whose lease had expired was taken over.
    TakenOver,
    /// The lease, lock or ownership was found lost while the attempt was still at work.
    OwnershipLost,
    /// The record of the run was written (as its writer knows).
    Recorded(RecordState),
    /// The record was not written: this attempt no longer owns the run.
    RecordRefused,
    /// The outside world changed: entry number `number` of the ledger (server side).
    Effect {
        /// Position in the ledger, from 1.
        number: u32,
    },
    /// The downstream recognised the key and answered without a new effect (server side).
    Repeated,
    /// The downstream refused a stale fencing token or a conflicting call (server side).
    EffectRefused,
    /// A lookup at the downstream found the effect.
    Found,
    /// A lookup at the downstream found nothing.
    NotFound,
    /// Recovery put a message for an unfinished run back into the queue.
    Requeued,
    /// A call ended without an answer: its outcome is unknown.
    TimedOut,
    /// A call was refused or its connection broke; `request` tells whether it is sure that
    /// nothing happened.
    Failed {
        /// True if the request is known not to have been executed.
        request: bool,
    },
    /// A fault struck here.
    Fault(FaultNote),
    /// An instance is back after a crash or a stop.
    Restarted,
    /// An instance stopped in good order.
    Stopped,
}

impl What {
    /// Stable number and name. Numbers are part of history hashes and names of JSON output: new
    /// variants get new numbers, whatever their place.
    const fn number_and_name(&self) -> (u8, &'static str) {
        match self {
            What::Fired => (0, "fired"),
            What::Claimed => (1, "claimed"),
            What::ClaimTaken => (2, "claim_taken"),
            What::Advanced => (3, "advanced"),
            What::SkippedByPolicy => (4, "skipped_by_policy"),
            What::OutboxRead => (5, "outbox_read"),
            What::Published => (6, "published"),
            What::PublishDeduplicated => (7, "publish_deduplicated"),
            What::Marked => (8, "marked"),
            What::Delivered => (9, "delivered"),
            What::Deferred { .. } => (10, "deferred"),
            What::Acked => (11, "acked"),
            What::AckRefused => (12, "ack_refused"),
            What::DeadLettered => (13, "dead_lettered"),
            What::Dropped => (14, "dropped"),
            What::Renewed => (15, "renewed"),
            What::AttemptStarted => (16, "attempt_started"),
            What::AttemptEnded(_) => (17, "attempt_ended"),
            What::HandlerPanic => (18, "handler_panic"),
            What::SkippedDone => (19, "skipped_done"),
            What::SkippedTaken => (20, "skipped_taken"),
            What::Busy => (21, "busy"),
            What::GaveUp => (22, "gave_up"),
            What::TakenOver => (23, "taken_over"),
            What::OwnershipLost => (24, "ownership_lost"),
            What::Recorded(_) => (25, "recorded"),
            What::RecordRefused => (26, "record_refused"),
            What::Effect { .. } => (27, "effect"),
            What::Repeated => (28, "repeated"),
            What::EffectRefused => (29, "effect_refused"),
            What::Found => (30, "found"),
            What::NotFound => (31, "not_found"),
            What::Requeued => (32, "requeued"),
            What::TimedOut => (33, "timed_out"),
            What::Failed { .. } => (34, "failed"),
            What::Fault(_) => (35, "fault"),
            What::Restarted => (36, "restarted"),
            What::Stopped => (37, "stopped"),
        }
    }

    /// Stable number, part of history hashes.
    pub const fn number(&self) -> u8 {
        self.number_and_name().0
    }

    /// As written in JSON, such as `attempt_started`.
    pub const fn name(&self) -> &'static str {
        self.number_and_name().1
    }
}

/// How an attempt of the handler ended.
///
/// The order of the variants is part of history hashes: new ones go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptEnd {
    /// Done.
    Succeeded,
    /// Failed; worth another attempt.
    Retryable,
    /// Failed for good.
    Final,
    /// The call to the outside world ended without an answer.
    Unknown,
    /// Cancelled, because its lease or lock was lost.
    Cancelled,
}

/// State of an execution record.
///
/// The order of the variants is part of history hashes: new ones go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordState {
    /// The run exists; nobody has been told.
    Created,
    /// The run's message was accepted by the broker.
    Queued,
    /// An attempt owns it.
    Running,
    /// Done.
    Succeeded,
    /// The last attempt failed.
    Failed,
    /// The outcome is not known; a lookup or a person decides.
    Unknown,
    /// Given up after the last attempt.
    Dead,
}

impl RecordState {
    /// As written in output, such as `SUCCEEDED`.
    pub const fn name(self) -> &'static str {
        match self {
            RecordState::Created => "CREATED",
            RecordState::Queued => "QUEUED",
            RecordState::Running => "RUNNING",
            RecordState::Succeeded => "SUCCEEDED",
            RecordState::Failed => "FAILED",
            RecordState::Unknown => "UNKNOWN",
            RecordState::Dead => "DEAD",
        }
    }
}

impl fmt::Display for RecordState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A fault as the timeline tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultNote {
    /// Stable number of the kind (`scenarios::spec::faults`).
    pub kind: u8,
    /// Name of the kind, such as `crash`.
    pub name: &'static str,
    /// One clause for a person, such as `before broker.ack; back at 02:00:05.240`.
    ///
    /// Empty when the execution is not being told to anybody.
    pub detail: Arc<str>,
    /// Magnitude in milliseconds, 0 where the kind has none.
    pub magnitude_ms: i64,
}
