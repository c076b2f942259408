//! What to simulate: scenario files, sites, plans, faults, tokens and the catalogue.

pub mod file;
pub mod spec;

pub use file::{Scenario, ScenarioError};
