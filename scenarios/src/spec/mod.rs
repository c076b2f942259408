//! What can go wrong, where, and how much: sites, faults, plans, and the bounded spaces of them.

pub mod applies;
mod bounds;
mod fault_spec;
pub mod faults;
mod magnitudes;
mod plan;
mod site;
mod space;
mod text;
mod wiring;

pub use applies::Server;
pub use bounds::{Bounds, Cell};
pub use fault_spec::FaultSpec;
pub use faults::FaultKind;
pub use magnitudes::{Deadline, LEG_MAX, MEMORY_FACTOR, Magnitudes};
pub use plan::{Fault, Plan};
pub use site::{Phase, RunRef, Site};
pub use space::Space;
pub use text::FaultTextError;
pub use wiring::why_absent;
