//! `database_restart`: the database restarts; its connections break, open transactions are gone.
//!
//! It applies where the scenario names the product, or where a guard holds an open session: without
//! either a restart of the quick database has nothing to lose.

use super::{Amount, Description, FaultKind, Scope};
use crate::spec::Phase;

/// See the module.
pub(super) const DATABASE_RESTART: Description = Description {
    kind: FaultKind::DatabaseRestart,
    what: "the database restarts: connections break, open transactions and session locks are gone",
    source: "an upgrade or a crash of the database",
    amount: Amount::Nothing,
    places: &[(Scope::DatabaseProduct, Phase::Before)],
    core: &[],
};
