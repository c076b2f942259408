//! Which lock waits for which: the one table on which everything else rests.

use crate::broken::{self, Broken};

/// How strong a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Shared: for LOCK IN SHARE MODE, and for looking whether a key is there already.
    Shared,
    /// Exclusive.
    Exclusive,
}

/// What of a record and of the gap before it a lock covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Span {
    /// The record and the gap before it: InnoDB's next-key lock.
    NextKey,
    /// The record alone.
    Record,
    /// The gap before the record alone.
    Gap,
    /// Somebody wants to insert into the gap. It waits for whoever has the gap, and keeps nobody
    /// out of it.
    InsertIntention,
}

impl Span {
    pub(super) const fn covers_gap(self) -> bool {
        matches!(self, Span::NextKey | Span::Gap)
    }
}

/// Whether a request has to wait for a lock of another transaction that is ahead of it on the same
/// record (`lock_rec_has_to_wait`). `supremum`: on the end of the index, where there is only a gap.
pub(super) fn has_to_wait(
    (mode, span): (Mode, Span),
    (other_mode, other_span): (Mode, Span),
    supremum: bool,
) -> bool {
    if mode == Mode::Shared && other_mode == Mode::Shared {
        return false;
    }
    let inserts = span == Span::InsertIntention;
    if inserts && broken::is(Broken::MariaInsertIgnoresGapLocks) {
        return false;
    }
    let only_gaps = supremum || span == Span::Gap;
    if only_gaps && !inserts && !broken::is(Broken::MariaGapLocksExclude) {
        return false;
    }
    if !inserts && other_span == Span::Gap && !broken::is(Broken::MariaGapLocksExclude) {
        return false;
    }
    if inserts && other_span == Span::Record {
        return false;
    }
    other_span != Span::InsertIntention
}

/// Whether a lock that a transaction has makes a new request unnecessary (`lock_rec_has_expl`).
pub(super) fn includes(
    (mode, span): (Mode, Span),
    (wanted_mode, wanted_span): (Mode, Span),
    supremum: bool,
) -> bool {
    mode >= wanted_mode
        && match span {
            Span::InsertIntention => false,
            Span::NextKey => true,
            Span::Record | Span::Gap => supremum || span == wanted_span,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPANS: [Span; 4] = [
        Span::NextKey,
        Span::Record,
        Span::Gap,
        Span::InsertIntention,
    ];

    fn waits(span: Span, other: Span) -> bool {
        has_to_wait((Mode::Exclusive, span), (Mode::Exclusive, other), false)
    }

    #[test]
    fn the_matrix_of_exclusive_locks_is_the_one_of_the_manual() {
        let matrix: Vec<[bool; 4]> = SPANS
            .iter()
            .map(|span| SPANS.map(|other| waits(*span, other)))
            .collect();
        assert_eq!(
            matrix,
            [
                // waits for: next-key, record, gap, insert intention
                [true, true, false, false],
                [true, true, false, false],
                [false, false, false, false],
                [true, false, true, false],
            ]
        );
    }

    #[test]
    fn shared_locks_do_not_wait_for_shared_locks() {
        for span in SPANS {
            for other in SPANS {
                assert!(!has_to_wait(
                    (Mode::Shared, span),
                    (Mode::Shared, other),
                    false
                ));
            }
        }
    }

    #[test]
    fn at_the_end_of_the_index_only_an_insert_waits() {
        let next_key = (Mode::Exclusive, Span::NextKey);
        assert!(!has_to_wait(next_key, next_key, true));
        let insert = (Mode::Exclusive, Span::InsertIntention);
        assert!(has_to_wait(insert, next_key, true));
    }

    #[test]
    fn a_record_lock_does_not_include_the_gap() {
        let record = (Mode::Exclusive, Span::Record);
        assert!(!includes(record, (Mode::Shared, Span::NextKey), false));
        assert!(includes(record, (Mode::Shared, Span::Record), false));
        assert!(!includes(
            (Mode::Shared, Span::NextKey),
            (Mode::Exclusive, Span::Record),
            false
        ));
    }
}
