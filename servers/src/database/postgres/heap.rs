//! Rows as they are kept: every version of each, in the order in which they were written.
//!
//! An UPDATE writes a new version and leaves the old one, which names its successor. A version says
//! who wrote it and who has a claim on it: a lock, or a change that may still be undone.

use super::xids::Xid;
use scheduler::ports::sql::TableDef;
use scheduler::ports::{Column, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The place of a version in its table.
pub(super) type Tid = usize;

/// The number of a statement in its transaction: it does not see what itself has done.
pub(super) type Cid = u32;

/// How strong a claim on a row is. (FOR KEY SHARE, which foreign keys take, is in no statement;
/// without it FOR UPDATE and FOR NO KEY UPDATE cannot be told apart.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Share,
    Exclusive,
}

impl Mode {
    pub(super) fn conflicts(self, other: Mode) -> bool {
        self == Mode::Exclusive || other == Mode::Exclusive
    }
}

/// Somebody's claim on a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) xid: Xid,
    pub(super) mode: Mode,
    /// Whether the row was changed or removed, not only locked.
    pub(super) writes: bool,
}

/// One version of a row.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) row: Rc<[Value]>,
    /// Who wrote it.
    pub(super) xmin: Xid,
    /// With which of its statements.
    pub(super) cmin: Cid,
    /// Who has a claim on it; those of who has ended count no longer, unless they have written.
    pub(super) claims: Vec<Claim>,
    /// With which statement it was changed or removed.
    pub(super) cmax: Cid,
    /// The next version, if it was changed.
    pub(super) next: Option<Tid>,
    /// No index points at it: it has all its keys from the version before.
    pub(super) heap_only: bool,
    /// In how many of the table's indexes it stands already.
    pub(super) entered: usize,
    /// Of an INSERT ... ON CONFLICT that may still be taken back.
    pub(super) speculative: bool,
    /// Taken back.
    pub(super) gone: bool,
}

/// A table's versions and counters.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    pub(super) versions: Vec<Version>,
    sequences: BTreeMap<Column, Sequence>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    last: i64,
    /// Up to here the log has it: where it goes on after a crash.
    logged: i64,
}

/// A sequence writes to the log only now and then, and then for so many numbers ahead.
const LOGGED_AHEAD: i64 = 32;

impl Heap {
    pub(super) fn push(&mut self, row: Vec<Value>, xmin: Xid, cmin: Cid) -> Tid {
        self.versions.push(Version {
            row: row.into(),
            xmin,
            cmin,
            claims: Vec::new(),
            cmax: 0,
            next: None,
            heap_only: false,
            entered: 0,
            speculative: false,
            gone: false,
        });
        self.versions.len() - 1
    }

    /// The next number of a column that counts. It is used up whatever becomes of the row.
    pub(super) fn count_up(&mut self, column: Column) -> i64 {
        let sequence = self.sequences.entry(column).or_default();
        sequence.last += 1;
        if sequence.last > sequence.logged {
            sequence.logged = sequence.last + LOGGED_AHEAD;
        }
        sequence.last
    }

    /// After a crash a sequence goes on behind what the log has.
    pub(super) fn crash(&mut self) {
        for sequence in self.sequences.values_mut() {
            sequence.last = sequence.logged;
        }
    }
}

/// Whether the two rows differ in a column of any index: then the new version needs entries.
pub(super) fn changes_an_index(table: &TableDef, old: &[Value], new: &[Value]) -> bool {
    table
        .indexes
        .iter()
        .flat_map(|index| &index.columns)
        .any(|column| old.get(usize::from(column.0)) != new.get(usize::from(column.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_goes_on_behind_what_the_log_has() {
        let mut heap = Heap::default();
        let id = Column(0);
        assert_eq!((heap.count_up(id), heap.count_up(id)), (1, 2));
        heap.crash();
        assert_eq!(heap.count_up(id), 34);
    }

    #[test]
    fn only_shared_claims_go_together() {
        assert!(!Mode::Share.conflicts(Mode::Share));
        assert!(Mode::Share.conflicts(Mode::Exclusive));
        assert!(Mode::Exclusive.conflicts(Mode::Exclusive));
    }
}
