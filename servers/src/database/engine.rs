//! What differs between the servers in behaviour, as one small trait.

use super::core::{Core, Handle};
use super::session::SessionId;
use super::{innodb, postgres};
use scheduler::ports::sql::{Query, Reply, SqlError};
use scheduler::ports::{Isolation, Table};
use std::future::Future;
use std::pin::Pin;

/// Which real server is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// PostgreSQL 15.
    Postgres,
    /// MariaDB 10.11 with InnoDB.
    MariaDb,
}

/// A statement at work.
pub(super) type Running = Pin<Box<dyn Future<Output = Result<Reply, SqlError>>>>;

/// What a server does with the statements that are not the same everywhere.
pub(super) trait Engine {
    /// Refuses a statement before it begins (a transaction that has failed).
    fn admits(&self, core: &Core, session: SessionId, query: &Query) -> Result<(), SqlError>;

    /// A statement that is admitted begins, whoever runs it.
    fn begins(&self, _: &mut Core, _: SessionId, _: &Query) {}

    /// A statement has failed, whoever ran it. Said of every failure, also where the engine knows.
    fn fails(&self, _: &mut Core, _: SessionId) {}

    /// Runs a statement on rows or on the transaction; whatever it does to the transaction after
    /// an error is done when it ends.
    fn run(&self, handle: Handle, session: SessionId, query: Query) -> Running;

    /// Everything the session's transaction did is undone and its locks are gone.
    fn abandon(&self, core: &mut Core, session: SessionId);

    /// The sessions that a waiting session waits for, in the order of their numbers.
    fn blockers(&self, core: &Core, session: SessionId) -> Vec<SessionId>;

    /// A waiting session's deadlock check is due (PostgreSQL): whether it is the victim.
    fn is_deadlocked(&self, core: &Core, session: SessionId) -> bool;

    /// A waiting session stops waiting: it takes its place in the queue out.
    fn stop_waiting(&self, core: &mut Core, session: SessionId);

    /// The server stops without warning and starts again: what is not on disk is gone.
    fn crash(&self, core: &mut Core);

    /// Whether rows of this table are visible as committed, for whoever looks from outside: the
    /// latest committed version of each, by primary key or by the order of insertion.
    fn committed(&self, core: &Core, table: Table) -> Vec<Vec<scheduler::ports::Value>>;
}

impl Flavor {
    pub(super) fn engine(self) -> &'static dyn Engine {
        match self {
            Flavor::Postgres => &postgres::Postgres,
            Flavor::MariaDb => &innodb::InnoDb,
        }
    }

    /// The level of a session that says nothing: the servers' own defaults.
    pub const fn default_isolation(self) -> Isolation {
        match self {
            Flavor::Postgres => Isolation::ReadCommitted,
            Flavor::MariaDb => Isolation::RepeatableRead,
        }
    }
}
