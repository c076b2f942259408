//! The engine, driven by statements.

mod interleavings;
mod locks;
mod plans;
mod serializable;
mod shop;
mod snapshots;
