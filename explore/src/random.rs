//! Random plans, for depths that no one can exhaust.
//!
//! A plan grows fault by fault, each at a site that the execution so far really reached, later
//! than the last: so every fault takes effect. A plan is named by its number: the same number
//! gives the same seed and plan, whoever runs it and in whatever order.

use crate::draw::Draw;
use crate::execute::perform;
use crate::fingerprint::PlanBytes;
use crate::sample::{Repeat, is_chosen, repeat};
use crate::{Control, Counterexample, Cut, Execute, ExploreError, Outcome, Reached, Table};
use rayon::prelude::*;
use scenarios::spec::{Fault, Plan};
use smallvec::SmallVec;
use std::ops::RangeInclusive;

/// A random plan and what it gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomPlan {
    /// The plan; it has fewer faults than asked for where nothing more applied.
    pub plan: Plan,
    /// Its outcome.
    pub outcome: Outcome,
    /// For each fault, the place of its site in the execution of the plan before it.
    places: SmallVec<[u32; 4]>,
}

/// Grows a plan of up to `faults` faults under `seed`, drawing from `draw`. Takes one execution
/// more than the plan has faults.
///
/// # Errors
/// An execution that fails, a fault without effect.
pub fn random_plan(
    execute: &dyn Execute,
    space: &Table,
    seed: u64,
    faults: u8,
    draw: &mut Draw,
) -> Result<RandomPlan, ExploreError> {
    grow(execute, seed, faults, |sites, later, _| {
        random_fault(space, sites, later, draw)
    })
}

/// Grows a plan by what `next` draws: from the sites of the execution so far, the place from which
/// on they are later than the last fault, and the number of faults still wanted, a place and the
/// fault there; `None` ends the plan.
pub(crate) fn grow(
    execute: &dyn Execute,
    seed: u64,
    faults: u8,
    mut next: impl FnMut(&[Reached], usize, usize) -> Option<(usize, Fault)>,
) -> Result<RandomPlan, ExploreError> {
    let mut plan = Plan::empty();
    let mut places = SmallVec::new();
    let mut later = 0;
    loop {
        let outcome = perform(execute, seed, &plan)
            .map_err(|source| ExploreError::at(seed, &plan, source))?;
        let wanted = usize::from(faults).saturating_sub(plan.faults.len());
        let drawn = match wanted {
            0 => None,
            _ => next(&outcome.sites, later, wanted),
        };
        let Some((place, fault)) = drawn else {
            return Ok(RandomPlan {
                plan,
                outcome,
                places,
            });
        };
        plan.faults.push(fault);
        places.push(place as u32);
        later = place + 1;
    }
}

/// A site among those from `later` on, each as likely; there, a fault, each as likely.
///
/// Drawing the site first keeps kinds with many magnitudes from crowding out the others.
fn random_fault(
    space: &Table,
    sites: &[Reached],
    later: usize,
    draw: &mut Draw,
) -> Option<(usize, Fault)> {
    let offering = |at: &&Reached| !space.at(at).is_empty();
    let rest = sites.get(later..)?;
    let count = rest.iter().filter(offering).count() as u64;
    let chosen = draw.below(count) as usize;
    let (place, at) = rest
        .iter()
        .enumerate()
        .filter(|(_, at)| offering(at))
        .nth(chosen)?;
    let choices = space.at(at);
    let (kind, magnitude_ms) = *choices.get(draw.below(choices.len() as u64) as usize)?;
    let fault = Fault {
        site: at.site,
        kind,
        magnitude_ms,
    };
    Some((later + place, fault))
}

/// A walk over numbered random plans.
#[derive(Clone, Copy)]
pub struct Random<'a> {
    /// Runs the plans.
    pub execute: &'a dyn Execute,
    /// The faults to choose from.
    pub space: &'a Table,
    /// The seeds to draw from, both ends included.
    pub seeds: &'a RangeInclusive<u64>,
    /// Each plan has from 1 to so many faults.
    pub faults: u8,
    /// Progress and early end.
    pub control: &'a Control,
}

/// What random plans gave.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RandomReport {
    /// How many plans ran.
    pub plans: u64,
    /// How many executions that took, with the sample that was executed twice.
    pub executions: u64,
    /// How many plans broke the promise.
    pub failing: u64,
    /// The failing plan with the lowest number, and that number.
    pub first_failing: Option<(u64, Counterexample)>,
    /// Why it ended, if not at the last number.
    pub cut: Option<Cut>,
}

impl Random<'_> {
    /// Runs the plans with these numbers, on the threads of the current rayon pool. Pass
    /// `0..=u64::MAX` to go on until the control says stop.
    ///
    /// # Errors
    /// An execution that fails, a fault without effect, a plan that does not repeat; of the plan
    /// with the lowest number.
    pub fn run(&self, numbers: RangeInclusive<u64>) -> Result<RandomReport, ExploreError> {
        /// Numbers handed to the pool at once: enough to keep all threads busy.
        const BATCH: u64 = 4096;
        let mut report = RandomReport::default();
        let (mut from, last) = (*numbers.start(), *numbers.end());
        while from <= last && report.cut.is_none() {
            let to = from.saturating_add(BATCH - 1).min(last);
            let batch: Vec<_> = (from..=to)
                .into_par_iter()
                .map(|number| self.one(number))
                .collect();
            // In order of number, so that the error reported is the first.
            for one in batch {
                report = report.merge(one?);
            }
            match to.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(report)
    }

    /// The seed and plan of this number, and what they give.
    ///
    /// # Errors
    /// An execution that fails, a fault without effect.
    pub fn plan(&self, number: u64) -> Result<(u64, RandomPlan), ExploreError> {
        let mut draw = Draw::new(number);
        let (first, last) = (*self.seeds.start(), *self.seeds.end());
        let count = last.saturating_sub(first).saturating_add(1);
        let seed = first + draw.below(count);
        let faults = 1 + draw.below(u64::from(self.faults)) as u8;
        let faults = faults.min(self.faults);
        let plan = random_plan(self.execute, self.space, seed, faults, &mut draw)?;
        Ok((seed, plan))
    }

    fn one(&self, number: u64) -> Result<RandomReport, ExploreError> {
        if let Some(cut) = self.control.cut() {
            return Ok(RandomReport {
                cut: Some(cut),
                ..RandomReport::default()
            });
        }
        let (seed, found) = self.plan(number)?;
        self.control.count_plan();
        let repeated = repeat_if_chosen(self.execute, seed, &found)?;
        let executions = found.plan.faults.len() as u64 + 1 + repeated;
        let failure = found.outcome.judgement.failure;
        let example = failure.then(|| Counterexample {
            seed,
            plan: found.plan,
            judgement: found.outcome.judgement,
            trace_hash: found.outcome.trace_hash,
            places: found.places,
        });
        Ok(RandomReport {
            plans: 1,
            executions,
            failing: failure.into(),
            first_failing: example.map(|example| (number, example)),
            cut: None,
        })
    }
}

/// Executes the plan a second time if it is one of the sample; says how many times that was.
///
/// # Errors
/// As of [`repeat`].
pub(crate) fn repeat_if_chosen(
    execute: &dyn Execute,
    seed: u64,
    found: &RandomPlan,
) -> Result<u64, ExploreError> {
    let hash = PlanBytes::of(seed, &found.plan.faults).hash();
    if !is_chosen(hash) {
        return Ok(0);
    }
    let chosen = Repeat {
        hash,
        seed,
        plan: found.plan.clone(),
        first: found.outcome.trace_hash,
        cut: None,
    };
    repeat(execute, &[chosen])
}

impl RandomReport {
    fn merge(self, other: RandomReport) -> RandomReport {
        let first_failing = match (self.first_failing, other.first_failing) {
            (Some(left), Some(right)) => Some(if right.0 < left.0 { right } else { left }),
            (left, right) => left.or(right),
        };
        RandomReport {
            plans: self.plans + other.plans,
            executions: self.executions + other.executions,
            failing: self.failing + other.failing,
            first_failing,
            cut: self.cut.max(other.cut),
        }
    }
}
