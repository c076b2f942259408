//! Marks: rare moments of the pipeline that an exploration must *sometimes* come to.
//!
//! A search that never reaches the moment at which a lease is taken over proves nothing about
//! takeovers. So each such moment has a mark, hit where it happens, and a test (`tests/marks.rs`)
//! fails as long as exploring the catalogue leaves one of them out. A mark is no event: it is in no
//! history and in no hash, and costs nothing where nobody listens ([`crate::ports::Journal::mark`]).
//! What an event of the history says by itself has no mark; the same test asks for the events.
//!
//! The list is append-only. The idea is TigerBeetle's (`src/testing/marks.zig`), and FoundationDB's
//! `TEST` macro before it.

use std::fmt;

/// A moment that must be come to.
#[derive(Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its place in [`ALL`].
    pub number: u8,
    /// Its name, such as `guard.taken_over`.
    pub name: &'static str,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        $($(#[$doc])* pub static $name: Mark = Mark { number: $number, name: $text };)*
        /// Every mark, by number.
        pub static ALL: &[&Mark] = &[$(&$name),*];
    };
}

marks! {
    /// A starting instance found a slot that came due before it started.
    CAUGHT_UP = 0, "dispatch.caught_up";
    /// The claim found the runKey: the slot is somebody else's.
    CLAIM_CONFLICT = 1, "dispatch.claim_conflict";
    /// A claim without an answer was tried again, and the one in its way was its own.
    CLAIM_OURS = 2, "dispatch.claim_ours";
    /// A claim without an answer was tried again, and the one in its way was another's.
    CLAIM_NOT_OURS = 3, "dispatch.claim_not_ours";
    /// The timer's lock row was held by another instance.
    CLAIM_LOCKED = 4, "dispatch.claim_locked";
    /// A run was published again because its first publish got no answer.
    PUBLISHED_AGAIN = 5, "dispatch.published_again";
    /// A relay published a row that its writer had left behind.
    RELAYED = 6, "outbox.relayed";
    /// A consumer's long poll ended without an answer.
    DELIVER_FAILED = 7, "broker.deliver_failed";
    /// A message was settled by a delivery that no longer held it.
    SETTLED_TOO_LATE = 8, "broker.settled_too_late";
    /// The deadline of a delivery was extended while its run was at work.
    DELIVERY_RENEWED = 9, "broker.delivery_renewed";
    /// A message was put off because its run was in other hands.
    BUSY_DEFERRED = 10, "broker.busy_deferred";
    /// A message was dropped because its run was in other hands.
    BUSY_DROPPED = 11, "broker.busy_dropped";
    /// A message was rejected after the last attempt.
    REJECTED = 12, "broker.rejected";
    /// An instance that was asked to stop ended what it had begun.
    DRAINED = 13, "executor.drained";
    /// The guard gave no answer, and was asked again.
    ENTERED_AGAIN = 14, "executor.entered_again";
    /// A failed attempt was followed by the next one under the same permit.
    RETRIED_IN_PLACE = 15, "executor.retried_in_place";
    /// The record of how an attempt ended got no answer, and was written again.
    FINISHED_AGAIN = 16, "executor.finished_again";
    /// A run whose lease had ended was taken over.
    TAKEN_OVER = 17, "guard.taken_over";
    /// A run that had failed was tried again.
    RETRIED = 18, "guard.retried";
    /// A claim of the record without an answer was tried again and found its own.
    RECORD_OURS = 19, "guard.record_ours";
    /// A run that was done came in a message that had not been delivered before: a second publish,
    /// or an operator's replay.
    DONE_BY_ANOTHER_MESSAGE = 20, "guard.done_by_another_message";
    /// A run that was done was delivered again.
    DONE_AND_REDELIVERED = 21, "guard.done_and_redelivered";
    /// The last attempt died, and the run was given up.
    GAVE_UP_FOR_ANOTHER = 22, "guard.gave_up_for_another";
    /// The lease of a run at work was extended.
    LEASE_RENEWED = 23, "guard.lease_renewed";
    /// An attempt at work found that its lease was another's.
    LEASE_LOST = 24, "guard.lease_lost";
    /// An attempt could not record how it ended: the run was another's.
    FINISH_REFUSED = 25, "guard.finish_refused";
    /// An attempt that wanted to record how it ended found that it had done so.
    FINISH_FOUND = 26, "guard.finish_found";
    /// A unique index refused the second row of a run.
    ROW_CONFLICT = 27, "guard.row_conflict";
    /// The guard's look found a row of the run.
    ROW_FOUND = 28, "guard.row_found";
    /// The key was locked by another attempt.
    LOCK_BUSY = 29, "lock.busy";
    /// A lock was extended while its holder was at work.
    LOCK_RENEWED = 30, "lock.renewed";
    /// A holder at work found that its lock was another's, or gone.
    LOCK_LOST = 31, "lock.lost";
    /// A lock was to be given back and was no longer its holder's.
    LOCK_NOT_OURS = 32, "lock.not_ours";
    /// Recovery requeued a run whose owner had died at work.
    REQUEUED_RUNNING = 33, "recovery.requeued_running";
    /// Recovery requeued a run that had waited in the queue for too long.
    REQUEUED_QUEUED = 34, "recovery.requeued_queued";
    /// Recovery requeued a run whose next attempt was overdue.
    REQUEUED_FAILED = 35, "recovery.requeued_failed";
    /// Recovery found a run that somebody else took up before it.
    REQUEUE_TOO_LATE = 36, "recovery.too_late";
    /// The downstream recognised a repeated request.
    REPEATED = 37, "effect.repeated";
    /// The downstream was still busy with an earlier request.
    IN_PROGRESS = 38, "effect.in_progress";
    /// A request got no answer.
    UNKNOWN = 39, "effect.unknown";
    /// A request without an answer was left to a person.
    QUARANTINED = 40, "effect.quarantined";
    /// The transaction of effect and record was rolled back: the run was another's.
    ROLLED_BACK = 41, "effect.rolled_back";
    /// The downstream was asked, and the effect was there.
    FOUND = 42, "effect.found";
    /// The downstream was asked, and the effect was not there.
    NOT_FOUND = 43, "effect.not_found";
    /// An instance that did not lead came to lead.
    ELECTED = 44, "dispatch.elected";
    /// An instance that had led found at a slot that it does not any more.
    DEPOSED = 45, "dispatch.deposed";
    /// An instance got no answer when it asked whether it leads, or what it owns, and went by what
    /// it believed.
    BELIEVED = 46, "coordinator.believed";
    /// An instance was told that its session is over.
    SESSION_OVER = 47, "coordinator.session_over";
    /// A new owner did again what a former one had left behind.
    FAILED_OVER = 48, "coordinator.failed_over";
    /// A claim by the timer's row found that somebody else had written it since the read.
    CLAIM_OUTRUN = 49, "dispatch.claim_outrun";
    /// An acquired row was to be given back and was no longer the claim's.
    CLAIM_LOST = 50, "dispatch.claim_lost";
    /// A call that had failed was made again.
    RECALLED_FAILED = 51, "admin.recalled_failed";
    /// A call without a report for too long was made again.
    RECALLED_LOST = 52, "admin.recalled_lost";
    /// A call was dropped because its timer was at work.
    CALL_DISCARDED = 53, "executor.call_discarded";
    /// An attempt was cancelled because a newer call covered it.
    CALL_COVERED = 54, "executor.call_covered";
    /// An attempt was cancelled because its time was up.
    ATTEMPT_TIMED_OUT = 55, "executor.attempt_timed_out";
    /// An attempt was cancelled and went on.
    CANCEL_IGNORED = 56, "executor.cancel_ignored";
}

/// The marks that were hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Marks(u128);

impl Marks {
    /// This one was hit.
    pub fn hit(&mut self, mark: &'static Mark) {
        self.0 |= 1 << mark.number;
    }

    /// Whether it was hit.
    pub const fn has(self, mark: &'static Mark) -> bool {
        self.0 & 1 << mark.number != 0
    }

    /// Those of either.
    #[must_use]
    pub const fn and(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// Those that were hit, in order.
    pub fn iter(self) -> impl Iterator<Item = &'static Mark> {
        ALL.iter().copied().filter(move |mark| self.has(mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_mark_stands_at_the_place_of_its_number_and_has_a_name_of_its_own() {
        for (place, mark) in ALL.iter().enumerate() {
            assert_eq!(usize::from(mark.number), place, "{mark}");
        }
        let names: BTreeSet<&str> = ALL.iter().map(|mark| mark.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.len() <= 128, "there is one bit a mark");
    }

    #[test]
    fn what_was_hit_is_there_and_nothing_else() {
        let mut marks = Marks::default();
        marks.hit(&TAKEN_OVER);
        marks.hit(&CAUGHT_UP);
        let mut other = Marks::default();
        other.hit(&NOT_FOUND);
        let names: Vec<&str> = marks.and(other).iter().map(|mark| mark.name).collect();
        let expected = ["dispatch.caught_up", "guard.taken_over", "effect.not_found"];
        assert_eq!(names, expected);
        assert!(!marks.has(&NOT_FOUND));
    }
}
