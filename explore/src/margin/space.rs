//! The spaces that a margin asks for: one kind of fault with one magnitude, or the kinds and steps
//! of a story.

use crate::cell::read_alike;
use crate::{Choice, Choices, Table};
use scenarios::Scenario;
use scenarios::spec::applies::StepFacts;
use scenarios::spec::{Bounds, Cell, FaultKind, Phase, Space};
use std::collections::BTreeMap;

/// Faults by where they apply.
#[derive(Default)]
struct Chosen(BTreeMap<(u8, Phase, bool), Vec<Choice>>);

impl Choices for Chosen {
    fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[Choice] {
        let faults = self.0.get(&(step, phase, replayable));
        faults.map_or(&[], Vec::as_slice)
    }
}

/// Nothing goes wrong.
pub(super) fn nothing() -> Table {
    Table::of(&[])
}

/// These kinds, each with this magnitude, wherever they apply in `full`; at one step only, where
/// one is named.
pub(super) fn of_kinds(
    scenario: &Scenario,
    kinds: &[FaultKind],
    at: Option<u8>,
    magnitude_ms: i64,
) -> Table {
    let steps = StepFacts::all(scenario).filter(|facts| at.is_none_or(|at| at == facts.step));
    chosen(steps, |facts, phase, replayable| {
        let offered = kinds.iter().copied();
        offered
            .filter(|kind| facts.offers(Space::Full, *kind, phase, replayable))
            .map(|kind| (kind, magnitude_ms))
            .collect()
    })
}

/// The faults of these cells, as core has them; as full does, where core lacks one.
pub(super) fn of_cells(scenario: &Scenario, cells: &[Cell]) -> Table {
    let core = Bounds::new(scenario, Space::Core);
    let in_core = |cell: &Cell| core.cells().iter().any(|has| read_alike(*has, *cell));
    let bounds = match cells.iter().all(in_core) {
        true => core,
        false => Bounds::new(scenario, Space::Full),
    };
    chosen(StepFacts::all(scenario), |facts, phase, replayable| {
        let offered = bounds.faults_at(facts.step, phase, replayable).iter();
        let is_of_story = |(kind, _): &Choice| {
            let step = facts.step;
            let this = Cell { step, kind: *kind };
            cells.iter().any(|cell| read_alike(*cell, this))
        };
        offered.copied().filter(is_of_story).collect()
    })
}

fn chosen(
    steps: impl Iterator<Item = StepFacts>,
    at: impl Fn(&StepFacts, Phase, bool) -> Vec<Choice>,
) -> Table {
    let mut chosen = Chosen::default();
    for facts in steps {
        for phase in Phase::ALL {
            for replayable in [false, true] {
                let faults = at(&facts, phase, replayable);
                chosen.0.insert((facts.step, phase, replayable), faults);
            }
        }
    }
    Table::of(&[&chosen])
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::steps::{BROKER_ACK, GUARD_ENTER, GUARD_FINISH, WORK};

    #[test]
    fn a_kind_has_its_magnitude_where_it_applies_and_nothing_else_is_there() {
        let scenario = Scenario::default();
        let everywhere = of_kinds(&scenario, &[FaultKind::Delay], None, 77);
        for step in [BROKER_ACK.number, GUARD_ENTER.number] {
            let at = |phase| everywhere.faults_at(step, phase, false).to_vec();
            assert_eq!(at(Phase::Request), [(FaultKind::Delay, 77)]);
            assert_eq!(at(Phase::Before), []);
        }
        assert_eq!(everywhere.faults_at(WORK.number, Phase::Before, false), []);
        let ack = of_kinds(&scenario, &[FaultKind::Delay], Some(BROKER_ACK.number), 77);
        assert_eq!(ack.faults_at(GUARD_ENTER.number, Phase::Request, false), []);
    }

    #[test]
    fn the_cells_of_a_story_have_the_magnitudes_of_the_smallest_space_that_holds_them() {
        let scenario = Scenario::default();
        let cell = |kind| Cell {
            step: GUARD_FINISH.number,
            kind,
        };
        let core = of_cells(&scenario, &[cell(FaultKind::Pause)]);
        let before = |table: &Table| {
            let step = GUARD_FINISH.number;
            table.faults_at(step, Phase::Before, false).to_vec()
        };
        assert_eq!(before(&core), [(FaultKind::Pause, 30_201)]);
        let full = of_cells(&scenario, &[cell(FaultKind::Partition)]);
        // Four magnitudes of each of the three partitions, which read alike.
        assert_eq!(before(&full).len(), 12);
        assert_eq!(full.faults_at(BROKER_ACK.number, Phase::Before, false), []);
    }
}
