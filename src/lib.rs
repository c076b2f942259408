//! Can this scheduled or queued job run twice, or never, and by which smallest chain of faults?
//!
//! runkey runs a complete scheduler -> queue -> executor pipeline inside a deterministic
//! simulator, injects the faults that cause duplicates in production, and judges every execution
//! by what reached the outside world.
//!
//! - [`report`]: what a person and a program read about an execution or a check.

pub mod report;
