//! Which faults are tried first within a level: those that most often showed a bug.

use crate::bugs::Bug;
use runkey_explore::{ExploreError, cell_of};
use scenarios::spec::{Cell, Fault, FaultKind, Plan};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Scores are learned under seeds that no try has.
const LEARNED_FROM: [u64; 2] = [1_000_001, 1_000_002];

/// How many single faults of a cell there were, and how many of them showed the bug.
#[derive(Clone, Copy, Default)]
struct Score {
    faults: u64,
    hits: u64,
}

/// What single faults did to one scenario.
#[derive(Default)]
pub struct Scores {
    cells: BTreeMap<Cell, Score>,
}

impl Scores {
    /// Of a bug; none of one that shows without a fault.
    pub fn of(bug: &Bug) -> Result<Self, ExploreError> {
        let mut scores = Scores::default();
        if bug.faults_needed == 0 {
            return Ok(scores);
        }
        for seed in LEARNED_FROM {
            for fault in bug.single_faults(seed)? {
                let score = scores.cells.entry(cell_of(&fault)).or_default();
                score.faults += 1;
                score.hits += u64::from(bug.is_shown_by(seed, &Plan::empty().with(fault))?);
            }
        }
        Ok(scores)
    }
}

/// An order of faults: by the mean rate, over the scenarios that have it, of a kind or cell.
pub struct Rank {
    kinds: BTreeMap<FaultKind, f64>,
    cells: BTreeMap<Cell, f64>,
}

impl Rank {
    /// Kinds only.
    pub fn by_kind(scores: &[&Scores]) -> Self {
        Rank {
            kinds: means(scores, |cell| cell.kind),
            cells: BTreeMap::new(),
        }
    }

    /// Kinds at steps; kinds only where no other scenario has the step.
    pub fn by_cell(scores: &[&Scores]) -> Self {
        Rank {
            kinds: means(scores, |cell| cell.kind),
            cells: means(scores, |cell| cell),
        }
    }

    /// Kinds in this order.
    pub fn of_kinds(order: &[FaultKind]) -> Self {
        let kinds = order.iter().rev().zip(1_u32..);
        Rank {
            kinds: kinds.map(|(kind, place)| (*kind, place.into())).collect(),
            cells: BTreeMap::new(),
        }
    }

    /// The smaller, the earlier.
    pub fn of(&self, fault: &Fault) -> Reverse<u64> {
        let by_kind = || self.kinds.get(&fault.kind);
        let score = self.cells.get(&cell_of(fault)).or_else(by_kind);
        Reverse((score.copied().unwrap_or(0.0) * 1e9) as u64)
    }

    /// Every kind with its score.
    pub fn kinds_best_first(&self) -> Vec<(FaultKind, f64)> {
        let mut kinds: Vec<(FaultKind, f64)> = self
            .kinds
            .iter()
            .map(|(kind, score)| (*kind, *score))
            .collect();
        kinds.sort_by(|one, other| other.1.total_cmp(&one.1));
        kinds
    }
}

/// So that scenarios with many sites do not outweigh the others, each has its own rate first.
fn means<K: Ord + Copy>(scores: &[&Scores], key: impl Fn(Cell) -> K) -> BTreeMap<K, f64> {
    let mut rates: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for scores in scores {
        let mut own: BTreeMap<K, Score> = BTreeMap::new();
        for (cell, score) in &scores.cells {
            let sum = own.entry(key(*cell)).or_default();
            sum.faults += score.faults;
            sum.hits += score.hits;
        }
        for (key, score) in own {
            let rate = rates.entry(key).or_default();
            rate.0 += score.hits as f64 / score.faults as f64;
            rate.1 += 1.0;
        }
    }
    rates
        .into_iter()
        .map(|(key, (sum, scenarios))| (key, sum / scenarios))
        .collect()
}
