//! To be written.

use super::core::{Core, Handle};
use super::engine::{Engine, Running};
use super::session::SessionId;
use scheduler::ports::sql::{Query, Reply, SqlError, Tag};
use scheduler::ports::{Table, Value};

/// Rows, versions and locks.
#[derive(Default)]
pub(super) struct Store {}

pub(super) struct Postgres;

impl Engine for Postgres {
    fn admits(&self, _: &Core, _: SessionId, _: &Query) -> Result<(), SqlError> {
        Ok(())
    }

    fn run(&self, _: Handle, _: SessionId, _: Query) -> Running {
        Box::pin(std::future::ready(Ok(Reply::done(Tag::Select))))
    }

    fn abandon(&self, _: &mut Core, _: SessionId) {}

    fn blockers(&self, _: &Core, _: SessionId) -> Vec<SessionId> {
        Vec::new()
    }

    fn is_deadlocked(&self, _: &Core, _: SessionId) -> bool {
        false
    }

    fn stop_waiting(&self, _: &mut Core, _: SessionId) {}

    fn crash(&self, _: &mut Core) {}

    fn committed(&self, _: &Core, _: Table) -> Vec<Vec<Value>> {
        Vec::new()
    }
}
