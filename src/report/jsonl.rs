//! One JSON object a line, as soon as it is there: a result, or an event of an execution.

use super::wire::{CheckResult, MarginResult, MatrixResult, ShardResult, VerifyResult, WireEvent};
use super::{
    CheckReport, Execution, Listing, MarginReport, MatrixReport, Report, ShardReport, VerifyReport,
};
use std::io::{self, Write};

/// Writes each line at once.
pub struct Jsonl<W> {
    out: W,
}

impl<W: Write> Jsonl<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Jsonl { out }
    }

    fn line(&mut self, value: impl serde::Serialize) -> io::Result<()> {
        // One write a line: a reader of a pipe never sees half of one.
        let mut line = serde_json::to_vec(&value)?;
        line.push(b'\n');
        self.out.write_all(&line)
    }
}

impl<W: Write> Report for Jsonl<W> {
    fn listing(&mut self, listing: &[Listing]) -> io::Result<()> {
        listing.iter().try_for_each(|line| self.line(line))
    }

    fn execution(&mut self, execution: &Execution<'_>) -> io::Result<()> {
        let history = execution.history;
        let mut events = history.events.iter();
        events.try_for_each(|event| self.line(WireEvent::of(event, &history.cast)))
    }

    fn check(&mut self, check: &CheckReport<'_>) -> io::Result<()> {
        self.line(CheckResult::of(check))?;
        self.out.flush()
    }

    fn margin(&mut self, margin: &MarginReport<'_>) -> io::Result<()> {
        self.line(MarginResult::of(margin))?;
        self.out.flush()
    }

    fn matrix(&mut self, matrix: &MatrixReport<'_>) -> io::Result<()> {
        for row in matrix.rows {
            let cast = row.scenario.cast();
            self.line(MatrixResult::of(matrix, row, &cast))?;
        }
        self.out.flush()
    }

    fn shard(&mut self, shard: &ShardReport<'_>) -> io::Result<()> {
        self.line(ShardResult::of(shard))?;
        self.out.flush()
    }

    fn verified(&mut self, verified: &VerifyReport<'_>) -> io::Result<()> {
        self.line(VerifyResult::of(verified))?;
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
