//! One JSON document with all results, for programs.

use super::wire::{
    CheckResult, ExecutionResult, MarginResult, MatrixResult, ShardResult, VerifyResult,
};
use super::{
    CheckReport, Execution, Listing, MarginReport, MatrixReport, Report, ShardReport, Verb,
    VerifyReport,
};
use serde::Serialize;
use std::io::{self, Write};

/// Writes each result as soon as it is there; [`Report::finish`] closes the document.
pub struct Json<W> {
    out: W,
    verb: Verb,
    begun: bool,
}

impl<W: Write> Json<W> {
    /// A document of this verb.
    pub const fn new(out: W, verb: Verb) -> Self {
        Json {
            out,
            verb,
            begun: false,
        }
    }

    /// What comes before the next result: the head of the document, or a comma.
    fn separate(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return self.out.write_all(b",");
        }
        let verb = self.verb.name();
        write!(
            self.out,
            "{{\n  \"schema\": \"runkey.{verb}/1\",\n  \"results\": ["
        )
    }

    fn push(&mut self, result: impl Serialize) -> io::Result<()> {
        self.separate()?;
        // No string of JSON holds a line break, so that every one of them is between tokens.
        let result = serde_json::to_string_pretty(&result)?.replace('\n', "\n    ");
        write!(self.out, "\n    {result}")
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
        self.push(CheckResult::of(check))?;
        self.out.flush()
    }

    fn margin(&mut self, margin: &MarginReport<'_>) -> io::Result<()> {
        self.push(MarginResult::of(margin))?;
        self.out.flush()
    }

    fn matrix(&mut self, matrix: &MatrixReport<'_>) -> io::Result<()> {
        for row in matrix.rows {
            let cast = row.scenario.cast();
            self.push(MatrixResult::of(matrix, row, &cast))?;
        }
        self.out.flush()
    }

    fn shard(&mut self, shard: &ShardReport<'_>) -> io::Result<()> {
        self.push(ShardResult::of(shard))?;
        self.out.flush()
    }

    fn verified(&mut self, verified: &VerifyReport<'_>) -> io::Result<()> {
        self.push(VerifyResult::of(verified))?;
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.begun {
            self.separate()?;
        }
        self.out.write_all(b"\n  ]\n}\n")?;
        self.out.flush()
    }
}
