//! Rules that a test can break on purpose, one at a time, to see the vectors find it.
//!
//! Without the feature `broken` no rule can be broken, and asking costs nothing.

/// A rule of a model, named by what happens where it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// MariaDB: two transactions cannot lock one gap.
    GapLocksExclude,
    /// MariaDB: an insert does not wait for whoever has locked the gap.
    InsertIgnoresGapLocks,
    /// MariaDB: the victim of a deadlock is who has done most.
    HeaviestIsVictim,
    /// MariaDB: INSERT IGNORE does not wait for an uncommitted row with the same key.
    IgnoreReturnsAtOnce,
    /// MariaDB: a failed or ignored insert keeps no lock on the row in its way.
    FailedInsertKeepsNoLock,
    /// MariaDB: a lock wait timeout rolls the whole transaction back.
    TimeoutRollsBackAll,
    /// MariaDB: the snapshot is taken at BEGIN.
    SnapshotAtBegin,
    /// MariaDB: after a deadlock the session is in a transaction still.
    DeadlockLeavesTransactionOpen,
    /// MariaDB: NOW() is the start of the transaction.
    NowOfTransaction,
}

#[cfg(feature = "broken")]
std::thread_local! {
    static NOW: std::cell::Cell<Option<Broken>> = const { std::cell::Cell::new(None) };
}

/// From now on this rule is broken on this thread; `None`: no rule is.
#[cfg(feature = "broken")]
pub fn set(rule: Option<Broken>) {
    NOW.set(rule);
}

/// Does something with one rule broken.
#[cfg(feature = "broken")]
pub fn with(rule: Broken, work: impl FnOnce()) {
    set(Some(rule));
    work();
    set(None);
}

/// Whether this rule is broken now.
#[cfg(feature = "broken")]
pub(crate) fn is(rule: Broken) -> bool {
    NOW.get() == Some(rule)
}

/// Whether this rule is broken now: never, in this build.
#[cfg(not(feature = "broken"))]
pub(crate) const fn is(_: Broken) -> bool {
    false
}
