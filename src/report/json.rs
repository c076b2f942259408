//! One JSON document with all results, for programs.

use super::wire::{CheckResult, Document, ExecutionResult};
use super::{CheckReport, Execution, Listing, Report, Verb};
use serde_json::Value;
use std::io::{self, Write};

/// Holds the results back until all are there.
pub struct Json<W> {
    out: W,
    verb: Verb,
    results: Vec<Value>,
}

impl<W: Write> Json<W> {
    /// A document of this verb.
    pub const fn new(out: W, verb: Verb) -> Self {
        Json {
            out,
            verb,
            results: Vec::new(),
        }
    }

    fn push(&mut self, result: impl serde::Serialize) -> io::Result<()> {
        self.results.push(serde_json::to_value(result)?);
        Ok(())
    }
}

impl<W: Write> Report for Json<W> {
    fn listing(&mut self, listing: &[Listing]) -> io::Result<()> {
        listing.iter().try_for_each(|line| self.push(line))
    }

    fn execution(&mut self, execution: &Execution<'_>) -> io::Result<()> {
        self.push(ExecutionResult::of(execution))
    }

    fn check(&mut self, check: &CheckReport<'_>) -> io::Result<()> {
        self.push(CheckResult::of(check))
    }

    fn finish(&mut self) -> io::Result<()> {
        let document = Document {
            schema: format!("runkey.{}/1", self.verb.name()),
            results: &self.results,
        };
        serde_json::to_writer_pretty(&mut self.out, &document)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}
