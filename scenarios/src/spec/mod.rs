//! What can go wrong, where, and how much: sites, faults, plans, and the bounded spaces of them.

pub mod faults;
mod plan;
mod site;

pub use faults::FaultKind;
pub use plan::{Fault, Plan};
pub use site::{Phase, RunRef, Site};
