//! The engine, driven by statements.

mod interleavings;
mod locks;
mod serializable;
mod shop;
mod snapshots;
