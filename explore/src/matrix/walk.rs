//! One walk through the plans of a row, for all columns at once.

use super::{Answers, Asked, MatrixError, PerCell, Row, Worst};
use crate::counterexample::Rank;
use crate::execute::perform;
use crate::level::example;
use crate::{Choice, Choices, ExploreError, Outcome, Reached, Table};
use rayon::prelude::*;
use scenarios::spec::{Bounds, Fault, Phase, Plan, Space};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What plans gave, by the place of the column; and how many there were.
#[derive(Default)]
struct Part {
    cells: BTreeMap<usize, Worst>,
    plans: u64,
}

/// A row while it is walked.
pub(super) struct Walk<'a> {
    asked: &'a Asked<'a>,
    row: Row<'a>,
    /// The faults of space core, where a second fault is asked for.
    core: Table,
    /// These and the faults of any column.
    both: Table,
    longest_ms: i64,
}

/// The first fault of the plans of one unit of work.
struct Unit<'a> {
    seed: u64,
    place: u32,
    at: &'a Reached,
    choice: Choice,
}

impl<'a> Walk<'a> {
    pub fn new(asked: &'a Asked<'a>, row: Row<'a>) -> Self {
        let beyond = Bounds::new(row.scenario, Space::Beyond);
        let longest_ms = beyond.magnitudes().past_longest_ms;
        let columns = Table::of(&[&OfColumns::new(asked, &beyond, longest_ms)]);
        let core = match asked.per_cell {
            PerCell::One => Table::of(&[]),
            PerCell::Two => Table::of(&[&Bounds::new(row.scenario, Space::Core)]),
        };
        Walk {
            asked,
            row,
            both: Table::of(&[&columns, &core]),
            core,
            longest_ms,
        }
    }

    pub fn all(&self) -> Result<Answers, MatrixError> {
        let seeds: Vec<u64> = self.asked.seeds.clone().collect();
        let roots: Vec<(u64, Outcome)> = seeds
            .into_par_iter()
            .map(|seed| Ok((seed, self.perform(seed, &Plan::empty())?)))
            .collect::<Vec<Result<_, MatrixError>>>()
            .into_iter()
            .collect::<Result<_, _>>()?;
        let mut sum = Part::default();
        for (seed, outcome) in &roots {
            let without_fault = self.columns_with(&[]);
            self.note(*seed, &[], &[], outcome, &without_fault, &mut sum);
        }
        let units: Vec<Unit<'_>> = roots
            .iter()
            .flat_map(|(seed, outcome)| self.units(*seed, &outcome.sites))
            .collect();
        self.asked.control.begin_level(1, units.len() as u64);
        let parts: Vec<Result<Part, MatrixError>> =
            units.par_iter().map(|unit| self.unit(unit)).collect();
        for part in parts {
            sum.merge(part?);
        }
        Ok(Answers {
            cells: (0..self.asked.columns.len())
                .map(|column| sum.cells.remove(&column))
                .collect(),
            plans: sum.plans,
        })
    }

    fn units<'u>(&'u self, seed: u64, sites: &'u [Reached]) -> impl Iterator<Item = Unit<'u>> {
        (0..).zip(sites).flat_map(move |(place, at)| {
            let choices = self.both.at(at).iter();
            choices.map(move |choice| Unit {
                seed,
                place,
                at,
                choice: *choice,
            })
        })
    }

    /// The plan of one fault, and those that begin with it.
    fn unit(&self, unit: &Unit<'_>) -> Result<Part, MatrixError> {
        let first = fault(unit.at, unit.choice);
        let plan = Plan {
            faults: vec![first],
        };
        let mut part = Part::default();
        let outcome = self.perform(unit.seed, &plan)?;
        let columns = self.columns_with(&plan.faults);
        let places = [unit.place];
        self.note(
            unit.seed,
            &plan.faults,
            &places,
            &outcome,
            &columns,
            &mut part,
        );
        let next = match self.asked.per_cell {
            PerCell::One => return Ok(part),
            // One of the two is of a column and the other of space core.
            PerCell::Two if self.core.offers(unit.at, unit.choice) => &self.both,
            PerCell::Two => &self.core,
        };
        for (place, at) in later_than(unit, &outcome.sites) {
            for choice in next.at(at) {
                self.second(unit, first, place, at, *choice, &mut part)?;
            }
        }
        Ok(part)
    }

    /// The plan of two faults, if it is of any column.
    fn second(
        &self,
        unit: &Unit<'_>,
        first: Fault,
        place: u32,
        at: &Reached,
        choice: Choice,
        part: &mut Part,
    ) -> Result<(), MatrixError> {
        let second = fault(at, choice);
        let mut columns = Vec::new();
        if self.core.offers(at, choice) {
            columns.extend(self.columns_with(&[first]));
        }
        if self.core.offers(unit.at, unit.choice) {
            columns.extend(self.columns_with(&[second]));
        }
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() {
            return Ok(());
        }
        let plan = Plan {
            faults: vec![first, second],
        };
        let outcome = self.perform(unit.seed, &plan)?;
        let places = [unit.place, place];
        self.note(unit.seed, &plan.faults, &places, &outcome, &columns, part);
        Ok(())
    }

    /// The columns to which a plan of one fault, or of none, belongs.
    fn columns_with(&self, faults: &[Fault]) -> Vec<usize> {
        let columns = self.asked.columns.iter().enumerate();
        let belongs = columns.filter(|(_, column)| match faults {
            [] => column.kind.is_none(),
            [fault, ..] => {
                let choice = (fault.kind, fault.magnitude_ms);
                column.has(fault.site.step, fault.site.phase, choice, self.longest_ms)
            }
        });
        belongs.map(|(place, _)| place).collect()
    }

    fn perform(&self, seed: u64, plan: &Plan) -> Result<Outcome, MatrixError> {
        if let Some(cut) = self.asked.control.cut() {
            return Err(MatrixError::Cut(cut));
        }
        let outcome = perform(self.row.execute, seed, plan);
        self.asked.control.count_plan();
        Ok(outcome.map_err(|source| ExploreError::at(seed, plan, source))?)
    }

    fn note(
        &self,
        seed: u64,
        faults: &[Fault],
        places: &[u32],
        outcome: &Outcome,
        columns: &[usize],
        part: &mut Part,
    ) {
        part.plans += 1;
        let rank = Rank {
            places,
            faults,
            seed,
        };
        for column in columns {
            part.add(
                *column,
                Worst {
                    verdict: outcome.judgement.verdict,
                    plans: 1,
                    example: (outcome.judgement.failure).then(|| example(&rank, outcome)),
                },
            );
        }
    }
}

impl Part {
    fn add(&mut self, column: usize, worst: Worst) {
        match self.cells.get_mut(&column) {
            Some(kept) => kept.merge(worst),
            None => {
                self.cells.insert(column, worst);
            }
        }
    }

    fn merge(&mut self, other: Part) {
        self.plans += other.plans;
        for (column, worst) in other.cells {
            self.add(column, worst);
        }
    }
}

const fn fault(at: &Reached, (kind, magnitude_ms): Choice) -> Fault {
    Fault {
        site: at.site,
        kind,
        magnitude_ms,
    }
}

/// The sites behind the first fault, with their places.
fn later_than<'s>(
    unit: &Unit<'_>,
    sites: &'s [Reached],
) -> impl Iterator<Item = (u32, &'s Reached)> {
    // Up to its fault an execution is that of the shorter plan, so the site stands where it stood;
    // the search is for executions that number their sites otherwise.
    let stands = unit.place as usize;
    let first = match sites.get(stands) {
        Some(at) if at.site == unit.at.site => Some(stands),
        _ => sites.iter().position(|at| at.site == unit.at.site),
    };
    let skipped = first.map_or(sites.len(), |first| first + 1);
    (0..).zip(sites).skip(skipped)
}

/// The faults of any column, by where they apply.
struct OfColumns(BTreeMap<(u8, Phase, bool), SmallVec<[Choice; 8]>>);

impl OfColumns {
    fn new(asked: &Asked<'_>, space: &Bounds, longest_ms: i64) -> Self {
        let mut faults = BTreeMap::new();
        for step in 0..=u8::MAX {
            for phase in Phase::ALL {
                for replayable in [false, true] {
                    let offered = space.faults_at(step, phase, replayable).iter().copied();
                    let wanted = offered.filter(|choice| {
                        let mut columns = asked.columns.iter();
                        columns.any(|column| column.has(step, phase, *choice, longest_ms))
                    });
                    faults.insert((step, phase, replayable), wanted.collect());
                }
            }
        }
        OfColumns(faults)
    }
}

impl Choices for OfColumns {
    fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[Choice] {
        let faults = self.0.get(&(step, phase, replayable));
        faults.map_or(&[], SmallVec::as_slice)
    }
}
