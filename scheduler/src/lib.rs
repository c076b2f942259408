//! The pipeline under test: schedules, dispatch, guards, effects, executor, recovery.

pub mod effects;
pub mod guards;
pub mod handler;
mod identity;
mod instance;
pub mod ports;
pub mod schedules;
mod span;
pub mod steps;
pub mod tables;
pub mod work;

pub use identity::IdentityKey;
pub use instance::Instance;
pub use span::{Span, Switchable};
