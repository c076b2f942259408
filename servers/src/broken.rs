//! Rules that a test can break on purpose, one at a time, to see the vectors find it.
//!
//! Without the feature `broken` no rule can be broken, and asking costs nothing.

/// A rule of a model, named by what happens where it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// PostgreSQL: REPEATABLE READ takes its snapshot at BEGIN.
    PostgresSnapshotAtBegin,
    /// PostgreSQL: an INSERT does not wait for who has the key.
    PostgresNoWaitOnKey,
    /// PostgreSQL: after a wait the condition is not looked at again.
    PostgresNoRecheck,
    /// PostgreSQL: an error leaves the transaction as it was.
    PostgresErrorLeavesTransaction,
    /// PostgreSQL: whoever closes the circle is the victim, at once.
    PostgresCloserIsVictim,
    /// PostgreSQL: NOW() is the start of the statement.
    PostgresNowOfStatement,
    /// PostgreSQL: SERIALIZABLE is REPEATABLE READ.
    PostgresSerializableOff,
    /// PostgreSQL: an advisory lock of the session ends with the transaction.
    PostgresSessionLockEndsAtCommit,
    /// PostgreSQL: SKIP LOCKED waits.
    PostgresSkipWaits,
    /// MariaDB: two transactions cannot lock one gap.
    MariaGapLocksExclude,
    /// MariaDB: an insert does not wait for whoever has locked the gap.
    MariaInsertIgnoresGapLocks,
    /// MariaDB: the victim of a deadlock is who has done most.
    MariaHeaviestIsVictim,
    /// MariaDB: INSERT IGNORE does not wait for an uncommitted row with the same key.
    MariaIgnoreReturnsAtOnce,
    /// MariaDB: a failed or ignored insert keeps no lock on the row in its way.
    MariaFailedInsertKeepsNoLock,
    /// MariaDB: a lock wait timeout rolls the whole transaction back.
    MariaTimeoutRollsBackAll,
    /// MariaDB: REPEATABLE READ takes its snapshot at BEGIN.
    MariaSnapshotAtBegin,
    /// MariaDB: after a deadlock the session is in a transaction still.
    MariaDeadlockLeavesTransaction,
    /// MariaDB: NOW() is the start of the transaction.
    MariaNowOfTransaction,
    /// Lock: a key whose time is over still stands in the way of SET NX.
    LockOutlivesItsTime,
    /// Lock: a script's comparison with the owner says yes to everybody.
    LockComparesNothing,
    /// Lock: a restart without persistence keeps the keys.
    LockSurvivesRestart,
    /// Lock: SET with KEEPTTL drops the time to live, as a plain SET does.
    LockKeepTtlDrops,
    /// Lock: an absolute end that is already past is taken for no end.
    LockPastEndIsNoEnd,
    /// Lock: PEXPIRE answers 1 and leaves the time to live as it was.
    LockRenewalDoesNothing,
    /// Lock: SET NX sets a key that is there.
    LockIgnoresNx,
    /// Lock: FLUSHALL keeps the keys.
    LockFlushKeeps,
    /// Lock: what was done is undone where the reply is lost.
    LostReplyUndoesLock,
    /// Broker: a classic queue puts a nacked message at the back.
    ClassicNackToTheBack,
    /// Broker: a quorum queue puts a nacked message at the front.
    QuorumNackToTheFront,
    /// Broker: the end of a channel does not count as a delivery.
    CloseNotCounted,
    /// Broker: an ack by a delivery that is not the last one is refused.
    LateAckRefused,
    /// Broker: a duplicate makes the deduplication window start anew.
    WindowSlides,
    /// Broker: a consumed message takes its deduplication id with it.
    DedupForgetsConsumed,
    /// Broker: an unknown delivery tag is ignored.
    UnknownTagIgnored,
    /// Broker: delivery tags go on counting when a channel is opened again.
    TagsGoOn,
    /// Broker: an ack of several settles one.
    MultipleAcksOne,
    /// Broker: a broken connection does not give its messages back.
    DisconnectKeepsMessages,
    /// Broker: a progress report does not restart the deadline.
    RenewalIgnored,
    /// Broker: the deadline never comes.
    DeadlineNeverComes,
    /// Broker: what is not persistent survives a restart.
    TransientSurvives,
    /// Broker: a dead letter is marked as redelivered.
    DeadLetterRedelivered,
    /// Broker: the limit of unsettled messages is not looked at.
    PendingUnlimited,
    /// Broker: a message comes back after its last delivery.
    MaxDeliverIgnored,
}

#[cfg(feature = "broken")]
impl Broken {
    /// Every rule that can be broken.
    pub const ALL: [Broken; 43] = [
        Broken::PostgresSnapshotAtBegin,
        Broken::PostgresNoWaitOnKey,
        Broken::PostgresNoRecheck,
        Broken::PostgresErrorLeavesTransaction,
        Broken::PostgresCloserIsVictim,
        Broken::PostgresNowOfStatement,
        Broken::PostgresSerializableOff,
        Broken::PostgresSessionLockEndsAtCommit,
        Broken::PostgresSkipWaits,
        Broken::MariaGapLocksExclude,
        Broken::MariaInsertIgnoresGapLocks,
        Broken::MariaHeaviestIsVictim,
        Broken::MariaIgnoreReturnsAtOnce,
        Broken::MariaFailedInsertKeepsNoLock,
        Broken::MariaTimeoutRollsBackAll,
        Broken::MariaSnapshotAtBegin,
        Broken::MariaDeadlockLeavesTransaction,
        Broken::MariaNowOfTransaction,
        Broken::LockOutlivesItsTime,
        Broken::LockComparesNothing,
        Broken::LockSurvivesRestart,
        Broken::LockKeepTtlDrops,
        Broken::LockPastEndIsNoEnd,
        Broken::LockRenewalDoesNothing,
        Broken::LockIgnoresNx,
        Broken::LockFlushKeeps,
        Broken::LostReplyUndoesLock,
        Broken::ClassicNackToTheBack,
        Broken::QuorumNackToTheFront,
        Broken::CloseNotCounted,
        Broken::LateAckRefused,
        Broken::WindowSlides,
        Broken::DedupForgetsConsumed,
        Broken::UnknownTagIgnored,
        Broken::TagsGoOn,
        Broken::MultipleAcksOne,
        Broken::DisconnectKeepsMessages,
        Broken::RenewalIgnored,
        Broken::DeadlineNeverComes,
        Broken::TransientSurvives,
        Broken::DeadLetterRedelivered,
        Broken::PendingUnlimited,
        Broken::MaxDeliverIgnored,
    ];
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

/// Whether a rule is broken now: `broken!(LateAckRefused)`.
macro_rules! broken {
    ($rule:ident) => {
        $crate::broken::is($crate::broken::Broken::$rule)
    };
}

pub(crate) use broken;
