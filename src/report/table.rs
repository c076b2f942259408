//! The league table on a terminal: letters under heads, then the smallest plans.

use super::matrix::{LETTERS, UNREACHED, blocks, head, letter, width};
use super::{MatrixReport, MatrixRow};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};
use std::ops::Range;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// What the legend says of a cell without a letter.
pub(super) const NEVER: &str =
    "no execution without faults comes to a site at which the fault applies";

/// Writes the whole table.
pub(super) fn write(out: &mut dyn Write, report: &MatrixReport<'_>) -> io::Result<()> {
    writeln!(out, "{}", report.base)?;
    writeln!(out, "{}", report.asked())?;
    writeln!(out)?;
    let legend: Vec<String> = LETTERS
        .iter()
        .map(|(letter, _, meaning)| format!("{letter} {meaning}"))
        .collect();
    writeln!(out, "{}", legend.join("  "))?;
    writeln!(out, "{UNREACHED} {NEVER}")?;
    let labels = report.rows.iter().map(|row| row.label().len());
    let label = labels.max().unwrap_or(0).max("guard".len());
    for block in blocks(report.columns, label) {
        writeln!(out)?;
        heads(out, report, &block, label)?;
        for row in report.rows {
            letters(out, report, row, &block, label)?;
        }
    }
    writeln!(out)?;
    for (number, column) in (1..).zip(report.columns) {
        writeln!(out, "  {number:>3}  {column}")?;
    }
    report
        .rows
        .iter()
        .try_for_each(|row| plans(out, report, row))
}

fn heads(
    out: &mut dyn Write,
    report: &MatrixReport<'_>,
    block: &Range<usize>,
    label: usize,
) -> io::Result<()> {
    let columns = || {
        report
            .columns
            .iter()
            .enumerate()
            .skip(block.start)
            .take(block.len())
    };
    for line in 0..4 {
        let mut text = " ".repeat(label);
        for (_, column) in columns() {
            let width = width(column);
            text.push_str(&format!("  {:<width$}", head(column)[line]));
        }
        let text = text.trim_end();
        if !text.is_empty() {
            writeln!(out, "{text}")?;
        }
    }
    let mut numbers = format!("{:<label$}", "guard");
    for (place, column) in columns() {
        let width = width(column);
        numbers.push_str(&format!("  {:<width$}", place + 1));
    }
    writeln!(out, "{FAINT}{}{FAINT:#}", numbers.trim_end())
}

fn letters(
    out: &mut dyn Write,
    report: &MatrixReport<'_>,
    row: &MatrixRow,
    block: &Range<usize>,
    label: usize,
) -> io::Result<()> {
    write!(out, "{:<label$}", row.label())?;
    let cells = report.columns.iter().zip(&row.answers.cells);
    let mut pad = 0;
    for (column, cell) in cells.skip(block.start).take(block.len()) {
        let style = match cell {
            None => FAINT,
            Some(worst) if worst.example.is_some() => BAD,
            Some(_) => GOOD,
        };
        write!(
            out,
            "{:pad$}  {style}{}{style:#}",
            "",
            letter(cell.as_ref())
        )?;
        pad = width(column) - 1;
    }
    writeln!(out)
}

/// The smallest plan of each cell of a row that fails.
fn plans(out: &mut dyn Write, report: &MatrixReport<'_>, row: &MatrixRow) -> io::Result<()> {
    for (place, failing) in report.failing(row).enumerate() {
        if place == 0 {
            writeln!(out, "\n{}", row.full_label())?;
        }
        writeln!(
            out,
            "  {}  {}, {}, seed {}",
            failing.letter,
            failing.column,
            failing.layer(),
            failing.example.seed
        )?;
        for fault in failing.plan() {
            writeln!(out, "       {fault}")?;
        }
        if let Some(replay) = failing.replay() {
            writeln!(out, "       {replay}")?;
        }
    }
    Ok(())
}
