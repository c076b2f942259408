//! Transaction numbers, and what has become of each.
//!
//! A transaction has a number only once it writes or locks; so has each savepoint in it. What a
//! savepoint did can be undone alone, which is why every version of a row names the number that
//! wrote it, not the transaction.

use super::super::session::SessionId;
use std::collections::{BTreeMap, BTreeSet};

/// The number of a transaction, or of a savepoint in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Xid(pub(super) u64);

/// What has become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Running,
    Committed,
    Aborted,
}

#[derive(Debug)]
struct Entry {
    fate: Fate,
    parent: Option<Xid>,
    session: SessionId,
}

/// Every number that was ever given.
#[derive(Debug)]
pub(super) struct Xids {
    entries: BTreeMap<Xid, Entry>,
    running: BTreeSet<Xid>,
    next: Xid,
    latest_completed: Xid,
}

/// The lowest number that PostgreSQL gives.
const FIRST: Xid = Xid(3);

impl Default for Xids {
    fn default() -> Self {
        Xids {
            entries: BTreeMap::new(),
            running: BTreeSet::new(),
            next: FIRST,
            latest_completed: Xid(FIRST.0 - 1),
        }
    }
}

impl Xids {
    pub(super) fn give(&mut self, session: SessionId, parent: Option<Xid>) -> Xid {
        let xid = self.next;
        self.next = Xid(xid.0 + 1);
        self.running.insert(xid);
        let entry = Entry {
            fate: Fate::Running,
            parent,
            session,
        };
        self.entries.insert(xid, entry);
        xid
    }

    /// The number that is given next.
    pub(super) const fn next(&self) -> Xid {
        self.next
    }

    pub(super) fn end(&mut self, xid: Xid, fate: Fate) {
        if let Some(entry) = self.entries.get_mut(&xid) {
            entry.fate = fate;
        }
        self.running.remove(&xid);
        self.latest_completed = self.latest_completed.max(xid);
    }

    fn fate(&self, xid: Xid) -> Fate {
        self.entries
            .get(&xid)
            .map_or(Fate::Aborted, |entry| entry.fate)
    }

    pub(super) fn is_running(&self, xid: Xid) -> bool {
        self.fate(xid) == Fate::Running
    }

    pub(super) fn has_committed(&self, xid: Xid) -> bool {
        self.fate(xid) == Fate::Committed
    }

    pub(super) fn has_aborted(&self, xid: Xid) -> bool {
        self.fate(xid) == Fate::Aborted
    }

    /// Whether it belongs to the transaction that the session has open.
    pub(super) fn is_own(&self, xid: Xid, session: SessionId) -> bool {
        self.entries
            .get(&xid)
            .is_some_and(|entry| entry.fate == Fate::Running && entry.session == session)
    }

    pub(super) fn session(&self, xid: Xid) -> Option<SessionId> {
        self.entries.get(&xid).map(|entry| entry.session)
    }

    /// The transaction that a savepoint belongs to.
    pub(super) fn top(&self, xid: Xid) -> Xid {
        let mut top = xid;
        while let Some(parent) = self.entries.get(&top).and_then(|entry| entry.parent) {
            top = parent;
        }
        top
    }

    /// Every number that is running.
    pub(super) fn all_running(&self) -> Vec<Xid> {
        self.running.iter().copied().collect()
    }

    /// What is committed at this moment.
    pub(super) fn snapshot(&self) -> Snapshot {
        let end = Xid(self.latest_completed.0 + 1);
        let running: Vec<Xid> = self.running.range(..end).copied().collect();
        // A running number above the end counts as running by being there.
        Snapshot {
            oldest: running.first().copied().unwrap_or(end),
            end,
            running,
        }
    }
}

/// Which transactions had committed at a moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Below it everything had ended.
    pub(super) oldest: Xid,
    /// From it on nothing had.
    pub(super) end: Xid,
    running: Vec<Xid>,
}

impl Snapshot {
    /// Whether it had not ended yet.
    pub(super) fn was_running(&self, xid: Xid) -> bool {
        xid >= self.end || self.running.binary_search(&xid).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_keeps_apart_what_had_ended_and_what_had_not() {
        let mut xids = Xids::default();
        let session = SessionId(0);
        let (early, late) = (xids.give(session, None), xids.give(session, None));
        xids.end(late, Fate::Committed);
        let snapshot = xids.snapshot();
        assert!(snapshot.was_running(early));
        assert!(!snapshot.was_running(late));
        xids.end(early, Fate::Committed);
        assert!(snapshot.was_running(early), "it is of that moment");
        assert!(snapshot.was_running(xids.give(session, None)));
    }

    #[test]
    fn a_savepoint_belongs_to_its_transaction() {
        let mut xids = Xids::default();
        let top = xids.give(SessionId(1), None);
        let inner = xids.give(SessionId(1), Some(top));
        let innermost = xids.give(SessionId(1), Some(inner));
        assert_eq!(xids.top(innermost), top);
        assert!(xids.is_own(innermost, SessionId(1)));
        assert!(!xids.is_own(innermost, SessionId(0)));
    }
}
