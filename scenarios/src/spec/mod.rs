//! What can go wrong, where, and how much: sites, faults, plans, and the bounded spaces of them.

mod fault_spec;
pub mod faults;
mod plan;
mod site;
mod space;

pub use fault_spec::FaultSpec;
pub use faults::FaultKind;
pub use plan::{Fault, Plan};
pub use site::{Phase, RunRef, Site};
pub use space::Space;
