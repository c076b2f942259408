//! Check a scenario from a test, with parts of your own.
//!
//! ```text
//! check(source) -> Check --assert_..()--> passes, or panics with timeline, reason and replay line
//!                        --explore()----> Report
//! RUNKEY_REPLAY=token    the same check runs exactly the plan of the token
//! ```

mod check;
mod error;
mod named;
mod quiet;
mod replay;
mod report;
mod source;
mod story;

pub use check::{Check, check, check_toml};
pub use error::Error;
pub use report::Report;
pub use source::Source;

pub(crate) use named::Named;
pub(crate) use quiet::hush_executions;
pub(crate) use replay::{Asked, asked, tell_past_the_harness};
pub(crate) use story::Story;
