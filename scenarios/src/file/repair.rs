//! `[[repair]]`: the same scenario with one change, so that before and after stand in one file.

use super::Scenario;
use super::expect::ExpectTable;
use super::fault::FaultTable;
use serde::{Deserialize, Serialize};

/// One `[[repair]]`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RepairTable {
    /// What the change is called.
    pub name: String,
    /// What is changed: dotted paths (`guard.ttl`, `timer.ID.next`, `instance.NAME.clock`) and
    /// whole tables (`guard`).
    pub set: toml::Table,
    /// Replaces the plan of the scenario.
    pub fault: Option<Vec<FaultTable>>,
    /// What is true with the change; left out: exactly_once.
    pub expect: Option<ExpectTable>,
    /// The changed scenario, with `fault` and `expect` in their places.
    #[serde(skip)]
    pub scenario: Box<Scenario>,
}
