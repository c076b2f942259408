//! The cells of a space that no fault struck, each with why.

use crate::{Checked, Coverage, Places};
use scenarios::Scenario;
use scenarios::spec::{Bounds, Cell, FaultKind, Phase, why_absent};
use scheduler::steps;
use serde::{Deserialize, Serialize};

/// Kinds of faults that never struck at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeverReached {
    /// The step.
    pub step: String,
    /// The kinds; a partition with its direction.
    pub kinds: Vec<String>,
    /// Why they did not strike there.
    pub why: String,
}

/// How far the plans of a check came.
pub(super) struct Reach<'a> {
    scenario: &'a Scenario,
    spaces: Vec<Bounds>,
    coverage: Coverage,
    places: Places,
    plans: u64,
}

impl<'a> Reach<'a> {
    pub fn of(scenario: &'a Scenario, checked: &Checked) -> Self {
        let mut places = Places::default();
        for level in &checked.levels {
            places.merge(&level.places);
        }
        let explored = &checked.explored;
        let spaces = explored.spaces.iter();
        Reach {
            scenario,
            spaces: spaces
                .map(|each| Bounds::new(scenario, each.space))
                .collect(),
            coverage: checked.coverage(),
            places,
            plans: explored.plans.saturating_add(explored.merged),
        }
    }

    pub fn nothing_struck(&self) -> bool {
        !self.struck(|_| true)
    }

    /// True if a fault took effect in a cell like this.
    pub fn struck(&self, is_meant: impl Fn(Cell) -> bool) -> bool {
        let mut cells = self.coverage.cells().into_iter();
        cells.any(|(cell, _)| is_meant(cell))
    }

    /// Every cell of the spaces that no fault struck, by step, then kind; kinds that share step
    /// and reason stand together.
    pub fn never_reached(&self) -> Vec<NeverReached> {
        let mut cells: Vec<Cell> = self
            .spaces
            .iter()
            .flat_map(|space| space.cells().iter().copied())
            .collect();
        cells.sort_unstable();
        cells.dedup();
        let mut listed: Vec<NeverReached> = Vec::new();
        for cell in self.coverage.never_reached(&cells) {
            let step = steps::by_number(cell.step).map_or("?", |step| step.name);
            let (kind, why) = (directed(cell.kind).to_owned(), self.why(cell));
            match listed
                .iter_mut()
                .rev()
                .find(|one| one.step == step && one.why == why)
            {
                Some(one) => one.kinds.push(kind),
                None => listed.push(NeverReached {
                    step: step.to_owned(),
                    kinds: vec![kind],
                    why,
                }),
            }
        }
        listed
    }

    /// Why no fault struck in a cell.
    pub fn why(&self, cell: Cell) -> String {
        if let Some(why) = why_absent(cell.step, self.scenario) {
            return format!("no such step here: {why}");
        }
        if !self.places.has_step(cell.step) {
            let plural = if self.plans == 1 { "" } else { "s" };
            return format!("none of {} plan{plural} came to this step", self.plans);
        }
        let at = |came_as: bool, replayable: bool| {
            Phase::ALL.into_iter().any(|phase| {
                self.places.has(cell.step, phase, came_as) && self.offers(cell, phase, replayable)
            })
        };
        if at(false, false) || at(true, true) {
            return "plans came to it only behind as many faults as were explored".to_owned();
        }
        if at(false, true) {
            return "no message of its run had been accepted by then".to_owned();
        }
        "plans came to this step, but to no phase of it at which this kind strikes".to_owned()
    }

    fn offers(&self, cell: Cell, phase: Phase, replayable: bool) -> bool {
        self.spaces.iter().any(|space| {
            let faults = space.faults_at(cell.step, phase, replayable);
            faults.iter().any(|(kind, _)| *kind == cell.kind)
        })
    }
}

fn directed(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::PartitionToServer => "partition to_server",
        FaultKind::PartitionFromServer => "partition from_server",
        _ => kind.name(),
    }
}
