//! Weakenings: lines of the pipeline that can be changed for the worse, one at a time.
//!
//! An exploration is worth what it finds. Each weakness is one line as somebody might have written
//! it; the mutation run (`tests/mutation/`) holds that a sound scenario of the catalogue breaks with
//! it. The line stands where it belongs and asks `Ports::weak`, which is `false` at compile time
//! unless the feature `weakened` is on: for tests only, and off by default.

use crate::ports::Ports;
use std::fmt;

macro_rules! weaknesses {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal;)*) => {
        /// A line that is worse than it should be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Weakness {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Weakness {
            /// Every weakness, in the order of the pipeline.
            pub const ALL: &[Weakness] = &[$(Weakness::$variant),*];

            /// Its name, such as `outbox.mark_forgotten`.
            pub const fn name(self) -> &'static str {
                match self { $(Weakness::$variant => $name,)* }
            }

            /// What the line does, in words.
            pub fn does(self) -> &'static str {
                match self { $(Weakness::$variant => concat!($($doc),*).trim_start(),)* }
            }
        }
    };
}

weaknesses! {
    /// The runKey is made of the time of firing, not of the planned time.
    KeyOfFiring = "timer.key_of_firing";
    /// A starting instance looks ahead only.
    ResumeFromNow = "resume.from_now";
    /// The position moves before the run is recorded.
    AdvanceBeforeClaim = "dispatch.advance_before_claim";
    /// The position does not move.
    AdvanceForgotten = "dispatch.advance_forgotten";
    /// A second row of the same runKey is no conflict.
    ClaimWithoutKey = "claim.without_unique_key";
    /// A claim that conflicts counts as won.
    ClaimUnchecked = "claim.unchecked";
    /// After a claim without an answer, whatever is in its way counts as its own.
    ClaimOwnerUnasked = "claim.owner_unasked";
    /// A claim that failed is not tried again.
    ClaimNotRetried = "claim.not_retried";
    /// A claim without an answer counts as won.
    UnknownClaimIsWon = "claim.unknown_is_won";
    /// The run is claimed without its outbox row.
    OutboxRowForgotten = "outbox.row_forgotten";
    /// The row is marked as sent before it is published.
    MarkBeforePublish = "outbox.mark_before_publish";
    /// A row whose publish failed is marked as sent.
    FailedPublishIsMarked = "outbox.failed_publish_is_marked";
    /// A row that was published is not marked.
    MarkForgotten = "outbox.mark_forgotten";
    /// The mark makes the record QUEUED, whatever it says.
    MarkOverwritesRecord = "outbox.mark_overwrites_record";
    /// The relay finds nothing.
    RelayFindsNothing = "relay.finds_nothing";
    /// The relay gives the run a new trace.
    RelayMintsTrace = "relay.mints_trace";
    /// Where the order is to publish first, the position is recorded first.
    AdvanceBeforeDispatch = "order.advance_before_dispatch";
    /// A publish that failed counts as done.
    FailedPublishIsDone = "order.failed_publish_is_done";
    /// A consumer ends with the first long poll that fails.
    ConsumerEnds = "executor.consumer_ends";
    /// The message is acked before the work.
    AckBeforeWork = "executor.ack_before_work";
    /// The deadline of a delivery is not extended.
    DeliveryNotRenewed = "executor.delivery_not_renewed";
    /// Guard and downstream compare the message instead of the run.
    KeyOfMessage = "executor.key_of_message";
    /// Guard and downstream compare the timer instead of the run.
    KeyOfTimer = "executor.key_of_timer";
    /// A guard that gave no answer: the message is acked.
    EnterErrorIsAcked = "executor.enter_error_is_acked";
    /// A run in other hands: the message is acked.
    BusyIsAcked = "executor.busy_is_acked";
    /// A run in other hands: the message is left to its deadline, which uses up a delivery.
    BusyUsesUpDelivery = "executor.busy_uses_up_delivery";
    /// A message to be put off is acked.
    DeferralIsAcked = "executor.deferral_is_acked";
    /// A run that is done: the message is left to its deadline.
    DoneIsNotAcked = "executor.done_is_not_acked";
    /// Success is recorded before the work.
    FinishBeforeWork = "executor.finish_before_work";
    /// A retry in place has a key of its own.
    RetryWithNewKey = "executor.retry_with_new_key";
    /// The work is done anew as soon as it failed.
    NoBackoff = "executor.no_backoff";
    /// No answer counts as failed for good.
    UnknownIsFinal = "executor.unknown_is_final";
    /// An earlier request that is in flight counts as failed for good.
    InProgressIsFinal = "executor.in_progress_is_final";
    /// A record of the end that could not be written is not written again, and the message acked.
    FinishErrorIsAcked = "executor.finish_error_is_acked";
    /// A second row of the same run is no conflict (`insert_first`).
    RowWithoutKey = "guard.row_without_unique_key";
    /// A run that is done may run again.
    DoneRunsAgain = "guard.done_runs_again";
    /// Only a run that nobody was told of may run: not one that is QUEUED.
    QueuedDoesNotRun = "guard.queued_does_not_run";
    /// A run that has failed is not tried again.
    FailedIsNotRetried = "guard.failed_is_not_retried";
    /// A run whose lease has ended is not taken over.
    NoTakeover = "guard.no_takeover";
    /// A run is taken over, whatever its lease says.
    LeaseUnasked = "guard.lease_unasked";
    /// The lease ends as it begins.
    LeaseIsNothing = "guard.lease_is_nothing";
    /// The lease is not extended.
    NoHeartbeat = "guard.no_heartbeat";
    /// A takeover does not count as an attempt, and its fencing token is the old one.
    TakeoverUncounted = "guard.takeover_uncounted";
    /// A failure that could be retried is recorded as DEAD.
    FailureIsDead = "guard.failure_is_dead";
    /// Anybody may record how an attempt ended.
    FinishOwnerUnasked = "guard.finish_owner_unasked";
    /// A failure may be recorded over a success.
    FinishStateUnasked = "guard.finish_state_unasked";
    /// Anybody may record success with an effect in the same database.
    SuccessOwnerUnasked = "guard.success_owner_unasked";
    /// The lock has no time to live.
    LockWithoutEnd = "lock.without_end";
    /// Recovery looks for runs that waited too long only.
    RecoverySkipsRunning = "recovery.skips_running";
    /// Recovery looks for runs whose owner died, and that failed, only.
    RecoverySkipsQueued = "recovery.skips_queued";
    /// Recovery looks for runs whose owner died, and that waited too long, only.
    RecoverySkipsFailed = "recovery.skips_failed";
    /// Recovery requeues what it has read, whatever became of it meanwhile.
    RequeueStateUnasked = "recovery.state_unasked";
    /// Recovery makes the record QUEUED and tells nobody.
    RequeueUnpublished = "recovery.unpublished";
    /// Recovery makes a new run of the one that it found.
    RequeueMintsTrace = "recovery.mints_trace";
    /// A request that was refused counts as done.
    RefusedIsDone = "effect.refused_is_done";
    /// A request without an answer counts as done.
    UnknownIsDone = "effect.unknown_is_done";
    /// The effect is committed without its record.
    EffectWithoutRecord = "effect.without_record";
    /// The effect is committed, also where its record is not.
    EffectBesideRecord = "effect.beside_record";
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Ports {
    /// Whether the pipeline has this weakness: never, unless a mutation run says so.
    #[cfg(not(feature = "weakened"))]
    #[inline]
    pub(crate) const fn weak(&self, _: Weakness) -> bool {
        false
    }
}

#[cfg(feature = "weakened")]
mod weakened {
    use super::Weakness;
    use crate::marks::Mark;
    use crate::ports::{At, Journal, Ports};
    use evidence::What;
    use std::sync::Arc;

    impl Ports {
        /// Whether the pipeline has this weakness.
        pub(crate) fn weak(&self, weakness: Weakness) -> bool {
            self.journal.weakness() == Some(weakness)
        }

        /// The same ports, for a pipeline with this weakness.
        #[must_use]
        pub fn weakened(self, weakness: Weakness) -> Ports {
            let journal = Arc::new(Weakened {
                journal: self.journal,
                weakness,
            });
            Ports { journal, ..self }
        }
    }

    /// A journal that also says which weakness there is: every part of the pipeline has one at hand.
    struct Weakened {
        journal: Arc<dyn Journal>,
        weakness: Weakness,
    }

    impl Journal for Weakened {
        fn record(&self, at: At<'_>, what: What) {
            self.journal.record(at, what);
        }

        fn mark(&self, mark: &'static Mark) {
            self.journal.mark(mark);
        }

        fn weakness(&self) -> Option<Weakness> {
            Some(self.weakness)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_weakness_has_a_name_of_its_own_and_says_what_it_does() {
        let names: BTreeSet<&str> = Weakness::ALL.iter().map(|weak| weak.name()).collect();
        assert_eq!(names.len(), Weakness::ALL.len());
        for weakness in Weakness::ALL {
            assert!(weakness.does().ends_with('.'), "{weakness}");
        }
    }
}
