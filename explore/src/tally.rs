//! How many plans a level has, where only some of them are run.
//!
//! While a level is walked, the plans past a state are only named, by the state and the number of
//! further faults: how many they are may be found out by another thread, later. When the level is
//! done the names are replaced by numbers, fewest faults first, since a plan that goes on past a
//! state has fewer faults left than before.

use crate::known::Resting;
use std::collections::BTreeMap;

/// A number of plans: those that were run, and those past states, each with its number of further
/// faults, so many times.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Form {
    pub(crate) run: u64,
    pub(crate) past: BTreeMap<(Resting, u8), u64>,
}

impl Form {
    /// One plan that was run.
    pub(crate) fn one() -> Self {
        Form {
            run: 1,
            past: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, other: &Form) {
        self.run += other.run;
        for (past, times) in &other.past {
            *self.past.entry(*past).or_default() += times;
        }
    }

    /// Adds the plans with so many faults past a state.
    pub(crate) fn add_past(&mut self, resting: Resting, faults: u8) {
        *self.past.entry((resting, faults)).or_default() += 1;
    }

    /// The number; `past` says how many plans have so many faults past a state.
    pub(crate) fn evaluate(&self, past: impl Fn(Resting, u8) -> u64) -> u64 {
        let past = self
            .past
            .iter()
            .map(|((resting, faults), times)| times.saturating_mul(past(*resting, *faults)));
        past.fold(self.run, u64::saturating_add)
    }
}

/// The plans of a level, by where their next fault is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// All of them.
    pub whole: Form,
    /// Those past a state and before the next one, by the number of faults past it.
    pub between: BTreeMap<(u8, Resting), Form>,
}

impl Tally {
    /// Adds plans whose next fault, of so many, is past this state.
    pub fn add_past(&mut self, resting: Resting, faults: u8, form: &Form) {
        self.between.entry((faults, resting)).or_default().add(form);
    }

    pub fn merge(&mut self, other: &Tally) {
        self.whole.add(&other.whole);
        for ((faults, resting), form) in &other.between {
            self.add_past(*resting, *faults, form);
        }
    }

    pub fn whole(&self) -> &Form {
        &self.whole
    }

    /// Fewest faults first.
    pub fn by_faults(&self) -> impl Iterator<Item = ((Resting, u8), &Form)> {
        self.between
            .iter()
            .map(|((faults, resting), form)| ((*resting, *faults), form))
    }
}
