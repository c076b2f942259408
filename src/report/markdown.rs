//! The league table as a page: for those of its results that have a form there.

use super::matrix::{LETTERS, UNREACHED, letter};
use super::table::NEVER;
use super::{
    CheckReport, Execution, Listing, MarginReport, MatrixReport, Report, ShardReport, VerifyReport,
};
use std::io::{self, Write};

/// Writes tables of Markdown. Only the league table has a form here; the rest is refused.
pub struct Markdown<W> {
    out: W,
}

impl<W: Write> Markdown<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Markdown { out }
    }

    fn row<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> io::Result<()> {
        let cells: Vec<String> = (cells.into_iter())
            .map(|cell| cell.replace('|', "\\|"))
            .collect();
        writeln!(self.out, "| {} |", cells.join(" | "))
    }

    fn head(&mut self, cells: &[&str]) -> io::Result<()> {
        self.row(cells.iter().copied())?;
        writeln!(self.out, "|{}", "---|".repeat(cells.len()))
    }

    fn letters(&mut self, report: &MatrixReport<'_>) -> io::Result<()> {
        let columns: Vec<String> = report
            .columns
            .iter()
            .map(|column| format!("`{column}`"))
            .collect();
        let mut head = vec!["guard"];
        head.extend(columns.iter().map(String::as_str));
        self.head(&head)?;
        for row in report.rows {
            let mut cells = vec![row.full_label()];
            let letters = row.answers.cells.iter();
            cells.extend(letters.map(|cell| letter(cell.as_ref()).to_string()));
            self.row(cells.iter().map(String::as_str))?;
        }
        Ok(())
    }

    fn plans(&mut self, report: &MatrixReport<'_>) -> io::Result<()> {
        self.head(&[
            "guard",
            "fault",
            "verdict",
            "layer",
            "smallest plan",
            "replay",
        ])?;
        for row in report.rows {
            for failing in report.failing(row) {
                let plan: Vec<String> = failing.plan();
                let replay = failing.replay().unwrap_or_default();
                self.row([
                    row.full_label().as_str(),
                    &format!("`{}`", failing.column),
                    failing.example.verdict().name(),
                    &failing.layer(),
                    &format!("{}; seed {}", plan.join("; "), failing.example.seed),
                    &format!("`{replay}`"),
                ])?;
            }
        }
        Ok(())
    }
}

fn refused() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "only the league table has a form in Markdown",
    )
}

impl<W: Write> Report for Markdown<W> {
    fn matrix(&mut self, report: &MatrixReport<'_>) -> io::Result<()> {
        writeln!(
            self.out,
            "Each set-up: {}; {}.\n",
            report.base,
            report.asked()
        )?;
        let legend: Vec<String> = LETTERS
            .iter()
            .map(|(letter, _, meaning)| format!("`{letter}` {meaning}"))
            .collect();
        writeln!(self.out, "{}; `{UNREACHED}` {NEVER}.\n", legend.join(", "))?;
        self.letters(report)?;
        writeln!(self.out, "\nThe smallest plan of each cell that fails:\n")?;
        self.plans(report)
    }

    fn listing(&mut self, _: &[Listing]) -> io::Result<()> {
        Err(refused())
    }

    fn execution(&mut self, _: &Execution<'_>) -> io::Result<()> {
        Err(refused())
    }

    fn check(&mut self, _: &CheckReport<'_>) -> io::Result<()> {
        Err(refused())
    }

    fn margin(&mut self, _: &MarginReport<'_>) -> io::Result<()> {
        Err(refused())
    }

    fn shard(&mut self, _: &ShardReport<'_>) -> io::Result<()> {
        Err(refused())
    }

    fn verified(&mut self, _: &VerifyReport<'_>) -> io::Result<()> {
        Err(refused())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
