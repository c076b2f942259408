//! The time that a check has left: random plans of more faults than its bound.

use super::bounds::Depth;
use super::failure::Failure;
use super::select::Subject;
use super::simulate::{Simulation, Told};
use explore::{Checked, Control, Swarm, Table, likeness};
use runkey::report::BeyondReport;
use scenarios::Token;
use scenarios::file::Seeds;
use scenarios::spec::{Bounds, Space};
use std::ops::RangeInclusive;

/// By how many faults a plan has more than what was explored, at most.
const AT_MOST_MORE: u8 = 4;

/// What was found beyond the bound.
pub struct Beyond {
    faults: RangeInclusive<u8>,
    plans: u64,
    finds: Vec<Told>,
}

impl Beyond {
    /// With all that is needed to tell it.
    pub fn report<'a>(&'a self, subject: &'a Subject) -> BeyondReport<'a> {
        let finds = self.finds.iter();
        BeyondReport {
            faults: self.faults.clone(),
            plans: self.plans,
            finds: finds.map(|told| told.execution(subject)).collect(),
        }
    }
}

/// Draws the plans of these numbers, until the control says stop; `None` where the check itself did not come to its end,
/// or walked no space.
///
/// What fails as the counterexample of the check does is left out.
///
/// # Errors
/// An execution that fails, a plan that does not repeat.
pub fn beyond(
    simulation: &Simulation,
    checked: &Checked,
    depths: &[Depth],
    seeds: Seeds,
    numbers: RangeInclusive<u64>,
    control: &Control,
) -> Result<Option<Beyond>, Failure> {
    let came_to_its_end = checked.levels.iter().all(|level| level.is_exhausted());
    let walked = !checked.explored.spaces.is_empty();
    let (true, true, Some(last)) = (came_to_its_end, walked, checked.levels.last()) else {
        return Ok(None);
    };
    let most = Token::MOST_FAULTS as u8;
    let faults = last.faults.saturating_add(1).min(most)
        ..=last.faults.saturating_add(AT_MOST_MORE).min(most);
    let widest = depths.iter().map(|(space, _)| *space).max();
    let bounds = Bounds::new(simulation.scenario(), widest.unwrap_or(Space::Full));
    let deadlines = bounds.magnitudes().deadlines.iter();
    let deadlines_ms: Vec<i64> = deadlines.map(|deadline| deadline.span.as_i64()).collect();
    let swarm = Swarm {
        execute: simulation.setup(),
        space: &Table::of(&[&bounds]),
        deadlines_ms: &deadlines_ms,
        seeds: &seeds.iter(),
        faults: &faults,
        control,
    };
    let report = swarm
        .run(numbers)
        .map_err(|source| simulation.failure(source))?;
    let shown = checked.counterexample.as_ref();
    let shown = shown.map(|example| likeness(&example.judgement, &example.plan));
    let finds = report
        .finds
        .into_iter()
        .filter(|find| Some(find.likeness()) != shown);
    Ok(Some(Beyond {
        faults,
        plans: report.plans,
        finds: finds
            .map(|find| simulation.tell(find.seed, find.plan))
            .collect::<Result<_, _>>()?,
    }))
}
