//! Can this scheduled or queued job run twice, or never, and by which smallest chain of faults?
//!
//! runkey runs a complete scheduler -> queue -> executor pipeline inside a deterministic
//! simulator, injects the faults that cause duplicates in production, and judges every execution
//! by what reached the outside world.
//!
//! - [`report`]: what a person and a program read about an execution or a check.

mod facade;
pub mod laws;
pub mod report;

pub use facade::{Check, Error, Report, Source, check, check_toml};

pub use evidence::{self, Attribution, Layer, Verdict};
pub use scenarios::spec::Space;
pub use scenarios::{self, Scenario};
pub use scheduler::guards::{self, Entry, Guard, Outcome, Permit, Retries, Settle, Visit};
pub use scheduler::handler::{Ctx, Handler, HandlerError};
pub use scheduler::ports::{self, CallError, Fut, Key, Ports};
pub use scheduler::{Instance, Span, effects, steps, tables};
pub use sim::{self, Outside};
