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
/// Calls of executors (topology `routed`), one row a call.
pub const CALLS: Table = Table(7);
/// Number of tables.
pub const COUNT: usize = 8;

/// How many columns the rows of a table have at most.
pub const COLUMNS: [u8; COUNT] = [6, 4, 1, 3, 1, 6, 8, 7];

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
