//! A session: its settings, its transaction, and what it waits for.

use super::Flavor;
use crate::Ms;
use scheduler::ports::Isolation;
use scheduler::ports::sql::SqlError;

/// A connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

/// What a session has set, each from its server's default.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) isolation: Isolation,
    pub(super) lock_wait: Option<Ms>,
    pub(super) idle_in_transaction: Option<Ms>,
    pub(super) idle_session: Option<Ms>,
    pub(super) deadlock_check: Ms,
    pub(super) snapshot_isolation: bool,
    pub(super) found_rows: bool,
    pub(super) durable: bool,
    pub(super) autocommit: bool,
}

impl Settings {
    pub(super) const fn of(flavor: Flavor) -> Self {
        let (lock_wait, idle_session) = match flavor {
            // lock_timeout = 0, idle_session_timeout = 0.
            Flavor::Postgres => (None, None),
            // innodb_lock_wait_timeout = 50 s, wait_timeout = 28 800 s.
            Flavor::MariaDb => (Some(50_000), Some(28_800_000)),
        };
        Settings {
            isolation: flavor.default_isolation(),
            lock_wait,
            // idle_in_transaction_session_timeout = 0, idle_transaction_timeout = 0.
            idle_in_transaction: None,
            idle_session,
            // PostgreSQL's deadlock_timeout.
            deadlock_check: 1_000,
            // MariaDB 10.11; on by default from 11.6.2.
            snapshot_isolation: false,
            found_rows: false,
            // synchronous_commit = on, innodb_flush_log_at_trx_commit = 1.
            durable: true,
            autocommit: true,
        }
    }
}

/// A session that waits for somebody else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// When it gives up.
    pub(super) until: Option<Ms>,
    /// When the server looks whether it is in a circle (PostgreSQL).
    pub(super) check_at: Option<Ms>,
    /// For a lock with a name ([`Session::wanted`]) or for time to pass, not for a row.
    pub(super) named: bool,
}

/// Where a session stands.
pub(super) struct Session {
    pub(super) settings: Settings,
    /// Whether the client has said BEGIN.
    pub(super) in_transaction: bool,
    /// The level of the transaction at hand.
    pub(super) isolation: Isolation,
    /// An error has made the transaction useless (PostgreSQL).
    pub(super) failed: bool,
    /// When the statement at hand, or the last one, came.
    pub(super) statement_at: Ms,
    /// When the transaction at hand began.
    pub(super) transaction_at: Ms,
    pub(super) waiting: Option<Waiting>,
    /// What the wait came to, for the statement to fetch.
    pub(super) signal: Option<Result<(), SqlError>>,
    /// Which wake of the server's its last one was.
    pub(super) turn: u64,
    /// Since when it has had nothing to do.
    pub(super) idle_since: Ms,
    /// Why the server has closed the connection; told at the next statement.
    pub(super) closed: Option<SqlError>,
    /// The lock with a name that it waits for.
    pub(super) wanted: Option<super::named::Wanted>,
    /// How often it holds each lock with a name, and whether the lock ends with the transaction.
    pub(super) named: Vec<super::named::Held>,
}

impl Session {
    pub(super) fn new(flavor: Flavor, now: Ms) -> Self {
        let settings = Settings::of(flavor);
        Session {
            settings,
            in_transaction: false,
            isolation: settings.isolation,
            failed: false,
            statement_at: now,
            transaction_at: now,
            waiting: None,
            signal: None,
            turn: 0,
            idle_since: now,
            closed: None,
            wanted: None,
            named: Vec::new(),
        }
    }
}
