//! How far it is to the edge: the smallest pause, delay, partition, clock step or skew, and the
//! shortest lease, deadline or retention, at which the verdict of a scenario changes.
//!
//! A margin is a question, "what comes of this value?", asked along one [`Dimension`]:
//!
//! - of a **kind of fault**: every single fault of the kind and of this magnitude, at every site of
//!   the fault-free executions where the kind applies (of one step, where one is named), under every
//!   seed. A value fails if any of them does: the margin is that of the worst site.
//! - of a **setting** or a **condition**: the scenario with that value in place, [`Under`] what the
//!   scenario itself says goes wrong. The faults are those of the scenario as it is written; they do
//!   not grow with the setting.
//!
//! What was asked is a [`Curve`]: a grid over the whole range, every change on it to 1 ms, and a
//! finer grid around each change, which is what shows where an answer is not monotone.

mod changed;
mod curve;
mod dimension;
mod space;
mod under;

pub use curve::{Answer, Curve, Stretch};
pub use dimension::{Dimension, Of, Way, WrongDimension};
pub use under::Under;

use crate::counterexample::keep_first;
use crate::{
    Control, Counterexample, Cut, Execute, ExecuteError, ExploreError, Level, Question, Table, Tree,
};
use changed::Changed;
use scenarios::file::SettingError;
use scenarios::spec::Magnitudes;
use scenarios::{Scenario, spec::FaultKind};
use std::ops::RangeInclusive;

/// Values are asked up to so many times the longest time that anything in the scenario waits for.
pub const BEYOND: u64 = 4;

/// Makes a scenario ready to be executed.
pub type Ready<'a> = &'a (dyn Fn(&Scenario) -> Result<Box<dyn Execute>, ExecuteError> + Sync);

/// What margins are asked of.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The scenario, as it is written.
    pub scenario: &'a Scenario,
    /// Makes it, and what becomes of it with other settings, ready.
    pub ready: Ready<'a>,
    /// The seeds; a value fails if it does under any of them.
    pub seeds: &'a RangeInclusive<u64>,
    /// Progress and early end.
    pub control: &'a Control,
}

/// Why there is no margin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarginError {
    /// An execution that fails, a fault without effect, a plan that does not repeat.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// A scenario that could not be made ready.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A setting that cannot be made.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// It was ended early.
    #[error("{}", .0.name())]
    Cut(Cut),
}

/// A margin, as far as there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Margin {
    /// What it is of.
    pub dimension: Dimension,
    /// What the scenario says, in ms with its sign; `None` where there is no one value.
    pub own_ms: Option<i64>,
    /// What goes wrong besides.
    pub under: Under,
    /// What was asked and answered; `None`: the kind has no site in any fault-free execution.
    pub curve: Option<Curve>,
    /// Number of (seed, plan) pairs that ran.
    pub plans: u64,
}

impl Margin {
    /// A value of the curve with its sign, in ms.
    pub fn signed(&self, value: u64) -> i64 {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.dimension.way.sign() * value
    }

    /// The example to show: of the value next to the first change on the side that fails; where
    /// nothing changes, of the least value that fails.
    pub fn example(&self) -> Option<(u64, &Answer)> {
        let curve = self.curve.as_ref()?;
        let stretches = curve.stretches();
        let (first, second) = (stretches.first()?, stretches.get(1));
        match (first.first.failure, second) {
            (false, None) => None,
            (false, Some(second)) => Some((second.from, second.first)),
            (true, None) => Some((first.from, first.first)),
            (true, Some(_)) => Some((first.to, first.last)),
        }
    }

    /// The scenario in which an answer was given.
    ///
    /// # Errors
    /// If the value was never asked and cannot be set.
    pub fn scenario_at(
        &self,
        scenario: &Scenario,
        value: u64,
        answer: &Answer,
    ) -> Result<Scenario, MarginError> {
        let changed = Changed {
            of: &self.dimension.of,
            way: self.dimension.way,
        };
        changed.scenario(scenario, value, answer.instance.as_deref())
    }
}

/// Finds the margin of one dimension.
///
/// Runs on the current rayon pool; the result does not depend on threads.
///
/// # Errors
/// See [`MarginError`].
pub fn margin(asked: &Asked<'_>, dimension: &Dimension) -> Result<Margin, MarginError> {
    asked.control.begin_level(1, 0);
    match &dimension.of {
        Of::Fault { kind, step } => {
            let kinds: Vec<FaultKind> = dimension::kinds_named(kind).collect();
            of_fault(asked, dimension, &kinds, *step)
        }
        Of::Condition { .. } | Of::Setting(_) => changed::margin(asked, dimension),
    }
}

fn of_fault(
    asked: &Asked<'_>,
    dimension: &Dimension,
    kinds: &[FaultKind],
    step: Option<u8>,
) -> Result<Margin, MarginError> {
    let execute = (asked.ready)(asked.scenario)?;
    let mut plans = 0;
    let mut ask = |faults: u8, value: u64| {
        let signed = dimension.way.sign() * i64::try_from(value).unwrap_or(i64::MAX);
        let space = space::of_kinds(asked.scenario, kinds, step, signed);
        let level = level(asked, &*execute, faults, &space)?;
        plans += level.plans;
        Ok::<_, MarginError>((answer(&level), level.plans))
    };
    let (without, _) = ask(0, 0)?;
    let curve = if without.failure {
        Some(Curve::point(0, without))
    } else if ask(1, 1)?.1 == 0 {
        // No site: no plan of one fault.
        None
    } else {
        let high = BEYOND * longest_wait(asked.scenario);
        Some(Curve::of(0..=high, &marks(asked.scenario), |value| {
            Ok::<_, MarginError>(match value {
                0 => without.clone(),
                _ => ask(1, value)?.0,
            })
        })?)
    };
    Ok(Margin {
        dimension: dimension.clone(),
        own_ms: None,
        under: Under::NoFault,
        curve,
        plans,
    })
}

/// The longest time that anything in the scenario waits for, in ms.
fn longest_wait(scenario: &Scenario) -> u64 {
    let settings = scenario.settings().into_iter();
    let waits = settings.filter(|setting| !setting.is_memory());
    waits.map(|wait| wait.span.ms()).max().unwrap_or(1).max(1)
}

/// Values at which changes are likely: where a fault just meets and just misses a deadline.
fn marks(scenario: &Scenario) -> Vec<u64> {
    let lasting = Magnitudes::of(scenario).lasting_ms;
    lasting.into_iter().map(i64::unsigned_abs).collect()
}

/// Every plan of so many faults of a space.
fn level(
    asked: &Asked<'_>,
    execute: &dyn Execute,
    faults: u8,
    space: &Table,
) -> Result<Level, MarginError> {
    let tree = Tree {
        execute,
        seeds: asked.seeds,
        control: asked.control,
    };
    let level = tree.level(&Question::every_plan(faults, space, &|_, _| false))?;
    match level.cut {
        Some(cut) => Err(MarginError::Cut(cut)),
        None => Ok(level),
    }
}

/// What comes of a level.
fn answer(level: &Level) -> Answer {
    let Some(worst) = level.failing_verdicts.keys().next().copied() else {
        let mut answer = Answer::nothing_ran();
        if let Some(verdict) = level.verdicts.keys().next() {
            answer.verdict = *verdict;
        }
        return answer;
    };
    let mut example: Option<Counterexample> = None;
    for (symptom, seen) in level.symptoms.iter() {
        if symptom.verdict == worst {
            keep_first(&mut example, Some(seen.first.clone()));
        }
    }
    Answer {
        verdict: worst,
        failure: true,
        instance: None,
        example,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::toy::Courier;

    const COURIER: Courier = Courier {
        keyed: true,
        tries: 3,
    };

    fn ask(of: &str, control: &Control) -> Result<Vec<Margin>, MarginError> {
        let scenario = Scenario::default();
        let asked = Asked {
            scenario: &scenario,
            ready: &|_| Ok(Box::new(COURIER)),
            seeds: &(1..=2),
            control,
        };
        let dimensions = Dimension::parse(of, &scenario).unwrap();
        dimensions
            .iter()
            .map(|dimension| margin(&asked, dimension))
            .collect()
    }

    #[test]
    fn a_kind_is_asked_at_every_site_where_it_applies_and_one_fault_at_a_time() {
        let margins = ask("delay", &Control::new()).unwrap();
        let curve = margins[0].curve.as_ref().unwrap();
        assert_eq!(curve.stretches().len(), 1);
        // The courier makes two calls: for each value but 0, two delays under each of two seeds.
        // 0, and that there is any site, are asked beforehand.
        let values = curve.points().count() as u64 - 1;
        assert_eq!(margins[0].plans, 2 + 4 + 4 * values);
        assert_eq!(margins[0].example(), None);
    }

    #[test]
    fn a_kind_without_a_site_has_no_curve() {
        let margins = ask("clock_step", &Control::new()).unwrap();
        assert_eq!(margins.len(), 2);
        assert!(margins.iter().all(|margin| margin.curve.is_none()));
    }

    #[test]
    fn whoever_ends_it_early_is_told_so() {
        let control = Control::new();
        control.stop();
        for of in ["delay", "work.takes"] {
            let cut = ask(of, &control).unwrap_err();
            assert_eq!(cut, MarginError::Cut(Cut::Interrupted), "{of}");
        }
    }
}
