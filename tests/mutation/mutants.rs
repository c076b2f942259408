//! The mutants, each with the scenario that tells it from the real pipeline.

use scheduler::weakness::Weakness::{self, *};

/// A weakness, and where it is looked for.
pub struct Mutant {
    /// The line.
    pub weakness: Weakness,
    /// The scenario of the catalogue.
    pub scenario: &'static str,
    /// Why no plan tells it from the real pipeline, where none does.
    pub equivalent: Option<&'static str>,
}

const fn found(weakness: Weakness, scenario: &'static str) -> Mutant {
    Mutant {
        weakness,
        scenario,
        equivalent: None,
    }
}

const fn equivalent(weakness: Weakness, scenario: &'static str, why: &'static str) -> Mutant {
    Mutant {
        weakness,
        scenario,
        equivalent: Some(why),
    }
}

const STACK: &str = "recommended-stack";
const TRANSACTIONAL: &str = "recommended-stack-transactional";
const ACK_FIRST: &str = "ack-first-with-recovery";
const KEY_ONLY: &str = "idempotency-key-downstream";
const ROW_ID: &str = "row-id-with-unique-run-key";
const REPLICAS: &str = "replicas-claim";
const PUBLISH_FIRST: &str = "publish-then-record";
const QUEUE: &str = "queue-brings-back";
const HEARTBEAT: &str = "heartbeat-keeps-the-run";
const LOCK: &str = "busy-message-deferred";

/// Every mutant, in the order of the pipeline.
pub const MUTANTS: &[Mutant] = &[
    found(KeyOfFiring, STACK),
    found(ResumeFromNow, STACK),
    found(AdvanceBeforeClaim, STACK),
    equivalent(
        AdvanceForgotten,
        STACK,
        "a slot that is fired again after a restart is refused by the unique runKey",
    ),
    found(ClaimWithoutKey, REPLICAS),
    found(ClaimUnchecked, ROW_ID),
    found(ClaimOwnerUnasked, REPLICAS),
    found(ClaimNotRetried, STACK),
    found(UnknownClaimIsWon, REPLICAS),
    found(OutboxRowForgotten, STACK),
    found(MarkBeforePublish, KEY_ONLY),
    found(FailedPublishIsMarked, KEY_ONLY),
    found(MarkForgotten, KEY_ONLY),
    found(MarkOverwritesRecord, TRANSACTIONAL),
    found(RelayFindsNothing, KEY_ONLY),
    found(RelayMintsTrace, ROW_ID),
    found(AdvanceBeforeDispatch, PUBLISH_FIRST),
    found(FailedPublishIsDone, PUBLISH_FIRST),
    found(ConsumerEnds, KEY_ONLY),
    found(AckBeforeWork, KEY_ONLY),
    equivalent(
        DeliveryNotRenewed,
        "deadline-renewed",
        "what is delivered twice carries the runKey, which the downstream recognises",
    ),
    found(KeyOfMessage, KEY_ONLY),
    found(KeyOfTimer, STACK),
    found(EnterErrorIsAcked, QUEUE),
    found(BusyIsAcked, LOCK),
    found(BusyUsesUpDelivery, "recovery-with-max-deliver-3"),
    found(DeferralIsAcked, QUEUE),
    found(DoneIsNotAcked, STACK),
    found(FinishBeforeWork, STACK),
    found(RetryWithNewKey, KEY_ONLY),
    found(NoBackoff, KEY_ONLY),
    found(UnknownIsFinal, STACK),
    found(InProgressIsFinal, "in-flight-conflict"),
    found(FinishErrorIsAcked, QUEUE),
    found(RowWithoutKey, "insert-first-stops-the-second"),
    found(DoneRunsAgain, TRANSACTIONAL),
    found(QueuedDoesNotRun, STACK),
    found(FailedIsNotRetried, QUEUE),
    found(NoTakeover, QUEUE),
    found(LeaseUnasked, HEARTBEAT),
    found(LeaseIsNothing, HEARTBEAT),
    found(NoHeartbeat, HEARTBEAT),
    equivalent(
        TakeoverUncounted,
        STACK,
        "two faults do not use up eight attempts, and nothing here is fenced",
    ),
    found(FailureIsDead, STACK),
    found(FinishOwnerUnasked, TRANSACTIONAL),
    found(FinishStateUnasked, TRANSACTIONAL),
    found(SuccessOwnerUnasked, TRANSACTIONAL),
    found(LockWithoutEnd, LOCK),
    found(RecoverySkipsRunning, ACK_FIRST),
    found(RecoverySkipsQueued, "broker-forgets-swept"),
    found(RecoverySkipsFailed, ACK_FIRST),
    found(RequeueStateUnasked, TRANSACTIONAL),
    found(RequeueUnpublished, ACK_FIRST),
    found(RequeueMintsTrace, ROW_ID),
    found(RefusedIsDone, STACK),
    found(UnknownIsDone, KEY_ONLY),
    found(EffectWithoutRecord, TRANSACTIONAL),
    found(EffectBesideRecord, TRANSACTIONAL),
];
