//! Which kind of fault took effect at which step, and how often.

use crate::Cause;
use scenarios::spec::{Fault, FaultKind};

const KINDS: usize = FaultKind::ALL.len();

/// Counts, per kind and step, the faults that took effect in the plans of a level (each plan
/// counted once, however often it was executed).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Coverage {
    /// By step number, then kind number; as long as the highest step seen needs.
    counts: Vec<u64>,
}

impl Coverage {
    /// How often this cause took effect.
    pub fn took_effect(&self, cause: Cause) -> u64 {
        self.counts.get(place(cause)).copied().unwrap_or(0)
    }

    /// Every cause that took effect, with how often, ordered by kind, then step.
    pub fn cells(&self) -> Vec<(Cause, u64)> {
        let mut cells: Vec<(Cause, u64)> = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(place, count)| (cause_at(place), *count))
            .collect();
        cells.sort_unstable();
        cells
    }

    pub(crate) fn add(&mut self, faults: &[Fault]) {
        for fault in faults {
            let place = place(Cause::of(fault));
            if place >= self.counts.len() {
                self.counts.resize(place + 1, 0);
            }
            self.counts[place] += 1;
        }
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

fn place(cause: Cause) -> usize {
    usize::from(cause.step) * KINDS + cause.kind as usize
}

fn cause_at(place: usize) -> Cause {
    Cause {
        kind: FaultKind::ALL[place % KINDS],
        // At most 255: `place` was made from a step number.
        step: (place / KINDS) as u8,
    }
}
