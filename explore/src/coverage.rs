//! Which kind of fault took effect at which step, and how often.

use crate::cell_of;
use scenarios::spec::{Cell, Fault, FaultKind};

const KINDS: usize = FaultKind::ALL.len();

/// Counts, per kind and step, the faults that took effect in the plans of a level (each plan
/// counted once, however often it was executed).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Coverage {
    /// By step number, then kind number; as long as the highest step seen needs.
    counts: Vec<u64>,
}

impl Coverage {
    /// How often this cell took effect.
    pub fn took_effect(&self, cell: Cell) -> u64 {
        self.counts.get(place(cell)).copied().unwrap_or(0)
    }

    /// Every cell that took effect, with how often, by step, then kind.
    pub fn cells(&self) -> Vec<(Cell, u64)> {
        // The places are in this order already.
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(place, count)| (cell_at(place), *count))
            .collect()
    }

    /// Those of the given cells that never took effect.
    pub fn never_reached(&self, cells: &[Cell]) -> Vec<Cell> {
        cells
            .iter()
            .copied()
            .filter(|cell| self.took_effect(*cell) == 0)
            .collect()
    }

    pub(crate) fn add(&mut self, faults: &[Fault]) {
        for fault in faults {
            self.add_many(cell_of(fault), 1);
        }
    }

    pub(crate) fn add_many(&mut self, cell: Cell, times: u64) {
        let place = place(cell);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += times;
    }

    pub(crate) fn merge(&mut self, other: &Coverage) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }
}

fn place(cell: Cell) -> usize {
    usize::from(cell.step) * KINDS + cell.kind as usize
}

fn cell_at(place: usize) -> Cell {
    Cell {
        kind: FaultKind::ALL[place % KINDS],
        // At most 255: `place` was made from a step number.
        step: (place / KINDS) as u8,
    }
}
