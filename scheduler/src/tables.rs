//! The tables that the pipeline keeps in the database, and their columns.

use crate::ports::{Column, Table};

/// Execution records, by identity key (the runKey, unless the scenario compares something else).
pub const RUNS: Table = Table(0);
/// Messages to be published, by runKey (or runKey and trace where the claim is not unique).
pub const OUTBOX: Table = Table(1);
/// The position of every timer, by timerId.
pub const TIMERS: Table = Table(2);
/// Lock rows, by what they lock.
pub const LOCKS: Table = Table(3);
/// Effects that live in the same database (protection `transactional`), by a fresh row id.
pub const EFFECTS: Table = Table(4);
/// Claimed runKeys, with the columns of [`RUNS`], where the guard keeps no record under the runKey.
pub const CLAIMS: Table = Table(5);
/// For a guard of a test's own: nothing else reads or writes it, and its columns are the guard's.
pub const OWN: Table = Table(6);
/// Runs that wait for a worker, where the queue is a table; by runKey, or runKey and what makes the
/// row another one.
pub const QUEUE: Table = Table(7);
/// Calls of executors (topology `routed`), one row a call.
pub const CALLS: Table = Table(8);
/// Number of tables.
pub const COUNT: usize = 9;

/// How many columns the rows of a table have at most.
pub const COLUMNS: [u8; COUNT] = [6, 4, 6, 3, 1, 6, 8, 7, 7];

/// Columns of [`RUNS`].
pub mod runs {
    use super::Column;
    /// State, as [`crate::guards::state_number`].
    pub const STATE: Column = Column(0);
    /// Attempts begun so far.
    pub const ATTEMPT: Column = Column(1);
    /// Token of the attempt that owns the run.
    pub const OWNER: Column = Column(2);
    /// RUNNING: end of the lease, ms. QUEUED: since when, ms. FAILED: not to be tried before, ms.
    pub const UNTIL: Column = Column(3);
    /// Trace of the run.
    pub const TRACE: Column = Column(4);
    /// Text of the runKey (the key may be something else).
    pub const RUN: Column = Column(5);
}

/// Columns of [`OUTBOX`].
pub mod outbox {
    use super::Column;
    /// 0: pending, 1: sent.
    pub const SENT: Column = Column(0);
    /// Trace of the run.
    pub const TRACE: Column = Column(1);
    /// Text of the runKey.
    pub const RUN: Column = Column(2);
    /// Since when, ms on the database's clock.
    pub const SINCE: Column = Column(3);
}

/// Columns of [`TIMERS`].
pub mod timers {
    use super::Column;
    /// scheduledTime of the last slot that was dispatched, ms.
    pub const CURSOR: Column = Column(0);
    /// How often the row was claimed; of claims that compare it.
    pub const VERSION: Column = Column(1);
    /// 0: waiting, 1: acquired by whoever claimed it.
    pub const STATE: Column = Column(2);
    /// Trace of the run whose claim wrote the row last.
    pub const OWNER: Column = Column(3);
    /// Acquired since, ms on the database's clock.
    pub const SINCE: Column = Column(4);
    /// scheduledTime of the next slot, ms; `i64::MAX`: there is none. Where workers poll the rows.
    pub const NEXT: Column = Column(5);
    /// How many columns a row has that is claimed; other rows have [`CURSOR`] alone.
    pub const ALL: usize = 6;
}

/// Columns of [`LOCKS`].
pub mod locks {
    use super::Column;
    /// Locked until, ms.
    pub const UNTIL: Column = Column(0);
    /// Token of the holder.
    pub const OWNER: Column = Column(1);
    /// Locked since, ms.
    pub const SINCE: Column = Column(2);
}

/// Columns of [`QUEUE`].
pub mod queue {
    use super::Column;
    /// 0: waits, 1: claimed, 2: done, 3: given up.
    pub const STATE: Column = Column(0);
    /// How often it was claimed.
    pub const CLAIMS: Column = Column(1);
    /// Waits: not to be claimed before, ms. Claimed: until when, ms. On the database's clock.
    pub const UNTIL: Column = Column(2);
    /// Trace of the run.
    pub const TRACE: Column = Column(3);
    /// Text of the runKey.
    pub const RUN: Column = Column(4);
    /// What tells the row from others of its run.
    pub const NUMBER: Column = Column(5);
    /// When whoever claimed it last gave a sign of life, ms.
    pub const BEAT: Column = Column(6);

    /// [`STATE`] of a row that waits to be claimed.
    pub const WAITS: i64 = 0;
    /// [`STATE`] of a row that is claimed.
    pub const CLAIMED: i64 = 1;
    /// [`STATE`] of a row that is done.
    pub const DONE: i64 = 2;
    /// [`STATE`] of a row that was given up.
    pub const DEAD: i64 = 3;
}

/// Columns of [`EFFECTS`].
pub mod effects {
    use super::Column;
    /// Text of the runKey.
    pub const RUN: Column = Column(0);
}

/// Columns of [`CALLS`].
pub mod calls {
    use super::Column;
    /// What came of the call: 0: not heard of yet, 1: taken, 2: failed (XXL-JOB's trigger_code).
    pub const ANSWER: Column = Column(0);
    /// How the run ended: 0: no report yet, 1: well, 2: failed (XXL-JOB's handle_code).
    pub const RESULT: Column = Column(1);
    /// 1 once an admin has looked after the failure (XXL-JOB's alarm_status).
    pub const WATCHED: Column = Column(2);
    /// When it was called, ms on the database's clock.
    pub const SINCE: Column = Column(3);
    /// How often it may be called again.
    pub const LEFT: Column = Column(4);
    /// Trace of the run.
    pub const TRACE: Column = Column(5);
    /// Text of the runKey.
    pub const RUN: Column = Column(6);
}
