//! What a person and a program read: listings, executions and checks, in each format.
//!
//! What happened ([`Execution`], [`CheckReport`], [`Listing`]) is put together once; each format is
//! one file that renders it and knows nothing of where it came from.
//!
//! ```text
//! scenario, outcome -> Execution -> why       (one sentence)
//!                                -> timeline  (one screen)
//!                                -> human | json | jsonl
//! ```

mod check;
mod execution;
mod human;
mod json;
mod jsonl;
mod listing;
mod margin;
mod markdown;
mod matrix;
mod set_up;
mod shard;
mod span;
mod summary;
mod survivors;
mod table;
#[cfg(test)]
mod tale;
mod timeline;
mod verify;
mod why;
mod wire;

pub use check::{BeyondReport, CheckReport};
pub use execution::Execution;
pub use human::Human;
pub use json::Json;
pub use jsonl::Jsonl;
pub use listing::Listing;
pub use margin::MarginReport;
pub use markdown::Markdown;
pub use matrix::{MatrixReport, MatrixRow};
pub use set_up::{OwnParts, set_up};
pub use shard::ShardReport;
pub use span::Spoken;
pub use survivors::Survivors;
pub use timeline::{Entry, Line, ONE_SCREEN, everything, one_screen};
pub use verify::VerifyReport;
pub use why::why;

use std::io;

/// Renders results one by one; nothing is complete before [`Report::finish`].
pub trait Report {
    /// Some scenarios of the catalogue.
    ///
    /// # Errors
    /// Those of the writer.
    fn listing(&mut self, listing: &[Listing]) -> io::Result<()>;

    /// One execution.
    ///
    /// # Errors
    /// Those of the writer.
    fn execution(&mut self, execution: &Execution<'_>) -> io::Result<()>;

    /// One scenario checked.
    ///
    /// # Errors
    /// Those of the writer.
    fn check(&mut self, check: &CheckReport<'_>) -> io::Result<()>;

    /// One margin of a scenario.
    ///
    /// # Errors
    /// Those of the writer.
    fn margin(&mut self, margin: &MarginReport<'_>) -> io::Result<()>;

    /// The league table.
    ///
    /// # Errors
    /// Those of the writer.
    fn matrix(&mut self, matrix: &MatrixReport<'_>) -> io::Result<()>;

    /// One share of a check done.
    ///
    /// # Errors
    /// Those of the writer.
    fn shard(&mut self, shard: &ShardReport<'_>) -> io::Result<()>;

    /// One certificate verified.
    ///
    /// # Errors
    /// Those of the writer.
    fn verified(&mut self, verified: &VerifyReport<'_>) -> io::Result<()>;

    /// Writes what has been held back.
    ///
    /// # Errors
    /// Those of the writer.
    fn finish(&mut self) -> io::Result<()>;
}

/// What is being reported: decides the schema, and how much of an execution is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The catalogue.
    List,
    /// One execution: the story of one slot.
    Run,
    /// One execution, event by event.
    Replay,
    /// Many executions.
    Check,
    /// Many executions of many values.
    Margin,
    /// Guard by fault.
    Matrix,
    /// A share of many executions.
    Shard,
    /// A certificate.
    Verify,
}

impl Verb {
    /// As in the name of its schema, `runkey.check/1`.
    pub const fn name(self) -> &'static str {
        match self {
            Verb::List => "list",
            Verb::Run => "run",
            Verb::Replay => "replay",
            Verb::Check => "check",
            Verb::Margin => "margin",
            Verb::Matrix => "matrix",
            Verb::Shard => "shard",
            Verb::Verify => "verify",
        }
    }
}
