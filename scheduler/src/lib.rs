//! The pipeline under test: schedules, dispatch, guards, effects, executor, recovery.

mod backoff;
mod catch_panic;
pub mod dispatch;
pub mod effects;
pub mod executor;
pub mod guards;
pub mod handler;
mod identity;
mod instance;
pub mod memory;
mod permits;
pub mod ports;
mod race;
pub mod recovery;
pub mod schedules;
mod span;
pub mod steps;
pub mod tables;
mod timer;
pub mod topologies;
pub mod work;

pub use identity::IdentityKey;
pub use instance::Instance;
pub use span::{Span, Switchable};
pub use timer::{NextFrom, Timer};
