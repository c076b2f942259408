//! The league table: guard by fault.
//!
//! A row is a set-up, a [`Column`] a fault: a kind at a step, as large as it is told. What stands
//! where they meet is the worst verdict of *every* plan of that one fault (at every site of the
//! step that the execution without faults reaches, with every magnitude of the kind, under every
//! seed), or, where two faults are asked for, of every plan of it with any one fault of space
//! `core`, before or behind it.
//!
//! A row is walked once for all columns: each plan is executed once, and counts wherever it belongs.
//! The plans that are shown are executed a second time, on another thread, and compared.

mod column;
mod walk;

pub use column::{Column, Size, WrongColumn};

use crate::sample::{Repeat, repeat};
use crate::{Control, Counterexample, Cut, Execute, ExploreError};
use evidence::Verdict;
use scenarios::Scenario;
use std::ops::RangeInclusive;
use walk::Walk;

/// A set-up: a row of the table.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// Decides which faults there are, and how large.
    pub scenario: &'a Scenario,
    /// Runs the plans.
    pub execute: &'a dyn Execute,
}

/// How many faults the plans of a cell have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PerCell {
    /// That of the column.
    #[default]
    One,
    /// That of the column alone, and with any one of space `core` besides.
    Two,
}

/// What is asked of every row.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The faults.
    pub columns: &'a [Column],
    /// How many at once.
    pub per_cell: PerCell,
    /// The seeds, both ends included.
    pub seeds: &'a RangeInclusive<u64>,
    /// Progress and early end.
    pub control: &'a Control,
}

/// Why there is no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// An execution that fails, a fault without effect, a plan that does not repeat.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// It was ended early.
    #[error("{}", .0.name())]
    Cut(Cut),
}

/// What stands in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// One for each column; `None`: no execution without faults comes to a site at which it applies.
    pub cells: Vec<Option<Worst>>,
    /// Number of (seed, plan) pairs that ran.
    pub plans: u64,
}

/// What stands in a cell: the worst that any of its plans gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// The verdict.
    pub verdict: Verdict,
    /// Number of (seed, plan) pairs that the cell is about.
    pub plans: u64,
    /// The canonically first plan with that verdict; `None` where the verdict is no failure.
    pub example: Option<Counterexample>,
}

/// Asks one row.
///
/// Runs on the current rayon pool; the answers do not depend on threads.
///
/// # Errors
/// See [`MatrixError`]. Where several executions fail, the first in the order of seed and plan.
pub fn row(asked: &Asked<'_>, row: Row<'_>) -> Result<Answers, MatrixError> {
    let answers = Walk::new(asked, row).all()?;
    let examples = answers.cells.iter().flatten();
    let repeats: Vec<Repeat> = examples
        .filter_map(|worst| worst.example.as_ref())
        .map(|example| Repeat {
            hash: 0,
            seed: example.seed,
            plan: example.plan.clone(),
            first: example.trace_hash,
            cut: None,
        })
        .collect();
    repeat(row.execute, &repeats)?;
    Ok(answers)
}

impl Worst {
    /// Takes in what other plans of the cell gave.
    fn merge(&mut self, other: Worst) {
        self.plans += other.plans;
        let earlier = match (&self.example, &other.example) {
            (Some(kept), Some(other)) => other.rank().precedes(&kept.rank()),
            _ => false,
        };
        if other.verdict < self.verdict || (other.verdict == self.verdict && earlier) {
            self.verdict = other.verdict;
            self.example = other.example;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::toy::Courier;

    fn asked<'a>(columns: &'a [Column], per_cell: PerCell, control: &'a Control) -> Asked<'a> {
        Asked {
            columns,
            per_cell,
            seeds: &(1..=2),
            control,
        }
    }

    fn columns(texts: &[&str]) -> Vec<Column> {
        texts
            .iter()
            .map(|text| Column::parse(text).unwrap())
            .collect()
    }

    fn courier(keyed: bool) -> Courier {
        Courier { keyed, tries: 9 }
    }

    /// Verdict, number of plans, number of faults of the example.
    fn told(answers: &Answers) -> Vec<Option<(Verdict, u64, Option<usize>)>> {
        let cells = answers.cells.iter();
        let told = |worst: &Worst| {
            let faults = worst.example.as_ref().map(|of| of.plan.faults.len());
            (worst.verdict, worst.plans, faults)
        };
        cells.map(|cell| cell.as_ref().map(told)).collect()
    }

    #[test]
    fn a_cell_is_the_worst_verdict_of_its_fault_and_an_unreached_one_is_told_from_a_sound_one() {
        let columns = columns(&[
            "none",
            "lose_request@broker.ack",
            "lose_reply@broker.ack",
            "lose_reply",
            "lose_request@guard.enter",
        ]);
        let control = Control::new();
        let asked = asked(&columns, PerCell::One, &control);
        let scenario = Scenario::default();
        let courier = courier(false);
        let row_of = Row {
            scenario: &scenario,
            execute: &courier,
        };
        let answers = row(&asked, row_of).unwrap();
        assert_eq!(
            told(&answers),
            [
                Some((Verdict::ExactlyOnce, 2, None)),
                Some((Verdict::Duplicate, 2, Some(1))),
                Some((Verdict::ExactlyOnce, 2, None)),
                Some((Verdict::Duplicate, 4, Some(1))),
                None,
            ]
        );
        // The empty plan, and the three sites of these faults, under two seeds.
        assert_eq!(answers.plans, 2 * (1 + 3));
    }

    #[test]
    fn a_second_fault_strikes_before_or_behind_that_of_the_column() {
        let columns = columns(&["lose_reply@broker.ack", "lose_request@broker.ack"]);
        let control = Control::new();
        let scenario = Scenario::default();
        let of = |per_cell| {
            let courier = courier(false);
            let row_of = Row {
                scenario: &scenario,
                execute: &courier,
            };
            told(&row(&asked(&columns, per_cell, &control), row_of).unwrap())
        };
        assert_eq!(of(PerCell::One)[0], Some((Verdict::ExactlyOnce, 2, None)));
        // Before the lost reply of the ack another message was lost: performed twice.
        let Some((verdict, plans, faults)) = of(PerCell::Two)[0] else {
            panic!("the ack is reached");
        };
        assert_eq!((verdict, faults), (Verdict::Duplicate, Some(2)));
        assert!(plans > 2);
        assert_eq!(
            of(PerCell::Two)[1].map(|(_, _, faults)| faults),
            Some(Some(1))
        );
    }

    #[test]
    fn a_sound_row_has_no_example() {
        let columns = columns(&["lose_request", "lose_reply"]);
        let control = Control::new();
        let scenario = Scenario::default();
        let courier = courier(true);
        let row_of = Row {
            scenario: &scenario,
            execute: &courier,
        };
        let answers = row(&asked(&columns, PerCell::Two, &control), row_of).unwrap();
        let sound = |cell: &Option<Worst>| {
            let worst = cell.as_ref().unwrap();
            worst.verdict == Verdict::ExactlyOnce && worst.example.is_none()
        };
        assert!(answers.cells.iter().all(sound));
    }

    #[test]
    fn whoever_ends_it_early_is_told_so() {
        let control = Control::new();
        control.stop();
        let scenario = Scenario::default();
        let courier = courier(true);
        let row_of = Row {
            scenario: &scenario,
            execute: &courier,
        };
        let ended = row(&asked(&Column::all(), PerCell::One, &control), row_of);
        assert_eq!(ended, Err(MatrixError::Cut(Cut::Interrupted)));
    }
}
