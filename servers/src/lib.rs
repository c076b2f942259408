//! What real servers do, as state machines: a request goes in, an answer, an error or "it waits"
//! comes out.
//!
//! A model knows no simulator, no socket and no clock: whoever drives it tells the time with each
//! request and says when time has passed. Where a real server leaves something to chance (which of
//! two waiting sessions goes first) the model asks its driver ([`Choice`]), so that a test can walk
//! every order.
//!
//! Each model is held, step by step, against what the real server did (`tests/vectors/`).

#[cfg(feature = "broken")]
pub mod broken;
#[cfg(not(feature = "broken"))]
mod broken;
pub mod broker;
mod choice;
pub mod coordinator;
pub mod database;
pub mod downstream;
pub mod lock;

pub use choice::{Choice, First, Script};

/// A moment or a length of time, in milliseconds.
pub type Ms = u64;
