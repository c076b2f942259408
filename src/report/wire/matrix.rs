//! One row of the league table as a program reads it.

use super::WireFault;
use crate::report::matrix::letter;
use crate::report::{MatrixReport, MatrixRow};
use evidence::Cast;
use explore::Counterexample;
use explore::matrix::{Column, PerCell, Size, Worst};
use scenarios::spec::Phase;
use serde::Serialize;

/// A result of `matrix`.
#[derive(Serialize)]
pub(in crate::report) struct MatrixResult<'a> {
    scenario: &'a str,
    guard: &'a str,
    /// Null where the downstream is unprotected.
    protection: Option<&'a str>,
    base: &'a str,
    seeds: String,
    faults_per_cell: u8,
    plans: u64,
    cells: Vec<Cell<'a>>,
}

#[derive(Serialize)]
struct Cell<'a> {
    fault: String,
    /// Null in the column without a fault.
    kind: Option<&'static str>,
    step: Option<&'static str>,
    phase: Option<&'static str>,
    /// Null where every magnitude counts.
    size: Option<&'static str>,
    letter: char,
    /// Null where the fault applies nowhere.
    verdict: Option<&'static str>,
    plans: u64,
    example: Option<Example<'a>>,
}

#[derive(Serialize)]
struct Example<'a> {
    plan: Vec<WireFault<'a>>,
    seed: u64,
    verdict: &'static str,
    layer: Option<String>,
    effects: u32,
    token: Option<String>,
    replay: Option<String>,
    trace_hash: String,
}

impl<'a> MatrixResult<'a> {
    /// `cast` is the one of the row's scenario.
    pub fn of(report: &'a MatrixReport<'a>, row: &'a MatrixRow, cast: &'a Cast) -> Self {
        let cells = report.columns.iter().zip(&row.answers.cells);
        MatrixResult {
            scenario: &row.scenario.name,
            guard: &row.guard,
            protection: row.protection.as_deref(),
            base: report.base,
            seeds: report.seeds.to_string(),
            faults_per_cell: match report.per_cell {
                PerCell::One => 1,
                PerCell::Two => 2,
            },
            plans: row.answers.plans,
            cells: cells
                .map(|(column, cell)| Cell::of(column, cell.as_ref(), row, cast))
                .collect(),
        }
    }
}

impl<'a> Cell<'a> {
    fn of(column: &Column, cell: Option<&'a Worst>, row: &MatrixRow, cast: &'a Cast) -> Self {
        let step = column.step.and_then(scheduler::steps::by_number);
        let example = cell.and_then(|worst| worst.example.as_ref());
        Cell {
            fault: column.to_string(),
            kind: column.kind,
            step: step.map(|step| step.name),
            phase: column.phase.map(Phase::name),
            size: match column.size {
                Size::Any => None,
                Size::Below => Some("below"),
                Size::Past => Some("past"),
            },
            letter: letter(cell),
            verdict: cell.map(|worst| worst.verdict.name()),
            plans: cell.map_or(0, |worst| worst.plans),
            example: example.map(|example| Example::of(example, row, cast)),
        }
    }
}

impl<'a> Example<'a> {
    fn of(example: &'a Counterexample, row: &MatrixRow, cast: &'a Cast) -> Self {
        let token = row.token(example);
        let faults = example.plan.faults.iter();
        Example {
            plan: faults.map(|fault| WireFault::of(fault, cast)).collect(),
            seed: example.seed,
            verdict: example.verdict().name(),
            layer: example.layer().map(ToString::to_string),
            effects: example.effects(),
            replay: token.as_ref().map(|token| format!("runkey replay {token}")),
            token,
            trace_hash: example.trace_hash.to_string(),
        }
    }
}
