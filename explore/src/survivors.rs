//! What would have stopped it: changed set-ups under the plan that breaks the present one, and then
//! under every plan.
//!
//! That a change survives the one plan that was found says little: most do it by reaching the
//! plan's site never, or later. So whatever survives the plan is explored as the scenario itself
//! was, the cheapest change first, until enough of them have survived everything.

use crate::execute::perform;
use crate::{
    Bound, Check, Checked, Control, Counterexample, Doubt, Execute, ExecuteError, Expectation,
    ExploreError, Met, NextLevel, Outcome, SpaceExplored, Walking, check,
};
use evidence::Verdict;
use scenarios::spec::{Fault, Plan};
use std::ops::RangeInclusive;

/// A changed set-up.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// Runs the plans.
    pub execute: &'a dyn Execute,
    /// The spaces in which it is explored, each with the faults that apply to *this* set-up.
    pub bounds: &'a [Bound<'a>],
    /// The places of earlier candidates all of whose changes are in this one, too: where one of
    /// them survives everything, this one is not explored.
    pub extends: &'a [usize],
}

/// What is asked of the candidates.
#[derive(Clone, Copy)]
pub struct Survivors<'a> {
    /// The plan that breaks the present set-up.
    pub plan: &'a Plan,
    /// The seed under which it does.
    pub seed: u64,
    /// How far those that survive the plan are explored; `None`: not at all.
    pub reach: Option<Reach<'a>>,
    /// After so many that survived everything no more are explored.
    pub enough: usize,
    /// Progress and early end.
    pub control: &'a Control,
}

/// How far a candidate that survives the plan is explored: within its bounds, and no further.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// The seeds, both ends included.
    pub seeds: &'a RangeInclusive<u64>,
    /// The last level is run if it has at most so many plans, where an execution has a hundred
    /// sites; fewer where it has more.
    pub most_plans: u64,
}

/// Enough for a level of two faults under one seed: some seconds at the most.
pub const MOST_PLANS: u64 = 100_000;

/// What came of one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survival {
    /// Under the plan.
    pub this_plan: UnderPlan,
    /// Under every plan; `None` where that was not asked: it failed already, or enough others
    /// had survived, or a smaller change had.
    pub every_plan: Option<UnderEveryPlan>,
}

/// What the plan does to a changed set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderPlan {
    /// What the judge says.
    pub verdict: Verdict,
    /// Whether that is a failure.
    pub failure: bool,
    /// Faults of the plan whose site is not reached any more. They were left out.
    pub left_out: Vec<Fault>,
}

/// What exploring a changed set-up found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderEveryPlan {
    /// The spaces, each with the largest number of faults that was run.
    pub spaces: Vec<SpaceExplored>,
    /// The seeds, both ends included.
    pub seeds: RangeInclusive<u64>,
    /// Number of (seed, plan) pairs that ran.
    pub plans: u64,
    /// Number that went on from a state from which others had gone on already.
    pub merged: u64,
    /// The canonically first plan that breaks it.
    pub breaks: Option<Counterexample>,
    /// Why nothing follows where nothing breaks it.
    pub unknown: Option<Unknown>,
}

/// Why it is not known whether a changed set-up survives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The exploration ended early, or shows nothing.
    Doubt(Doubt),
    /// The level of the plan that was found has too many plans, and was not run.
    TooLarge {
        /// Number of faults.
        faults: u8,
        /// Number of (seed, plan) pairs it has.
        plans: u64,
    },
}

impl Survival {
    /// True if the plan is no failure any more.
    pub const fn survives_plan(&self) -> bool {
        !self.this_plan.failure
    }

    /// True if every plan was run and none is a failure.
    pub fn survives_all(&self) -> bool {
        self.every_plan.as_ref().is_some_and(UnderEveryPlan::holds)
    }
}

impl UnderEveryPlan {
    /// True if every plan ran, as far as is said, and none breaks it.
    pub const fn holds(&self) -> bool {
        self.breaks.is_none() && self.unknown.is_none()
    }

    /// The largest number of faults that was run.
    pub fn max_faults(&self) -> u8 {
        let spaces = self.spaces.iter();
        spaces.map(|space| space.max_faults).max().unwrap_or(0)
    }
}

/// Tries the candidates, which come cheapest first. One answer for each, in their order.
///
/// Runs on the current rayon pool. Apart from cuts, the answers do not depend on threads.
///
/// # Errors
/// An execution that fails for another reason than that a fault of the plan has no site any more;
/// what [`check()`] gives.
pub fn survivors(
    asked: &Survivors<'_>,
    candidates: &[Candidate<'_>],
) -> Result<Vec<Survival>, ExploreError> {
    let mut survivals: Vec<Survival> = Vec::with_capacity(candidates.len());
    let mut found = 0;
    for candidate in candidates {
        let this_plan = under_plan(candidate.execute, asked.seed, asked.plan)?;
        let mut extended = candidate.extends.iter();
        let smaller_does = extended.any(|&place| {
            survivals
                .get(place)
                .is_some_and(|smaller| smaller.survives_all())
        });
        let every_plan = match asked.reach {
            Some(reach) if !this_plan.failure && !smaller_does && found < asked.enough => {
                Some(under_every_plan(candidate, reach, asked)?)
            }
            _ => None,
        };
        let survival = Survival {
            this_plan,
            every_plan,
        };
        found += usize::from(survival.survives_all());
        survivals.push(survival);
    }
    Ok(survivals)
}

/// Runs the plan, without the faults whose sites the changed set-up does not reach.
fn under_plan(execute: &dyn Execute, seed: u64, plan: &Plan) -> Result<UnderPlan, ExploreError> {
    let mut plan = plan.clone();
    let mut left_out = Vec::new();
    loop {
        let number = match perform(execute, seed, &plan) {
            Ok(outcome) => return Ok(UnderPlan::of(&outcome, left_out)),
            Err(
                ExecuteError::SiteNotReached { number, .. } | ExecuteError::NoEffect { number, .. },
            ) if (1..=plan.faults.len()).contains(&number) => number,
            Err(source) => return Err(ExploreError::at(seed, &plan, source)),
        };
        left_out.push(plan.faults.remove(number - 1));
    }
}

impl UnderPlan {
    fn of(outcome: &Outcome, left_out: Vec<Fault>) -> Self {
        UnderPlan {
            verdict: outcome.judgement.verdict,
            failure: outcome.judgement.failure,
            left_out,
        }
    }
}

/// Explores a candidate: never deeper than the plan that was found, but two faults at least.
fn under_every_plan(
    candidate: &Candidate<'_>,
    reach: Reach<'_>,
    asked: &Survivors<'_>,
) -> Result<UnderEveryPlan, ExploreError> {
    let deep_enough = u8::try_from(asked.plan.faults.len().max(2)).unwrap_or(u8::MAX);
    let bounds: Vec<Bound<'_>> = (candidate.bounds.iter())
        .map(|bound| Bound {
            up_to: bound.up_to.min(deep_enough),
            ..*bound
        })
        .collect();
    let deepest = bounds.iter().map(|bound| bound.up_to).max().unwrap_or(0);
    let ask = |faults: u8| {
        check(&Check {
            execute: candidate.execute,
            seeds: reach.seeds,
            bounds: &bounds,
            expectation: &Expectation::Holds {
                faults: Some(faults),
            },
            all_plans: false,
            show_next_up_to: 0,
            walking: Walking::default(),
            control: asked.control,
        })
    };
    // What has few faults is run first: most candidates break there, and it tells how large the
    // last level is.
    let shallow = ask(deepest.saturating_sub(1))?;
    match shallow.next {
        Some(NextLevel::TooLarge { plans, .. }) if deepest > 0 => {
            let hundreds_of_sites = shallow.explored.sites.div_ceil(100).max(1);
            if plans.saturating_mul(hundreds_of_sites) <= reach.most_plans {
                return Ok(found(&bounds, &ask(deepest)?, asked.plan));
            }
        }
        Some(_) | None => {}
    }
    Ok(found(&bounds, &shallow, asked.plan))
}

/// What a check says of a candidate.
fn found(bounds: &[Bound<'_>], checked: &Checked, plan: &Plan) -> UnderEveryPlan {
    let levels = &checked.levels;
    let run_to = levels.last().map_or(0, |level| level.faults);
    let cut = levels.iter().find_map(|level| level.cut);
    // Fewer faults than break the present set-up say nothing of the changed one.
    let too_few = usize::from(run_to) < plan.faults.len();
    UnderEveryPlan {
        spaces: (bounds.iter())
            .map(|bound| SpaceExplored {
                space: bound.space,
                max_faults: bound.up_to.min(run_to),
                exhausted: cut.is_none(),
            })
            .collect(),
        seeds: checked.explored.seeds.clone(),
        plans: levels.iter().map(|level| level.plans).sum(),
        merged: levels.iter().map(|level| level.merged).sum(),
        breaks: levels.iter().find_map(|level| level.first_failing.clone()),
        unknown: match (&checked.met, &checked.next) {
            _ if cut.is_some() => cut.map(Doubt::Cut).map(Unknown::Doubt),
            (Met::Inconclusive(doubt), _) => Some(Unknown::Doubt(doubt.clone())),
            (Met::Yes, Some(NextLevel::TooLarge { faults, plans })) if too_few => {
                Some(Unknown::TooLarge {
                    faults: *faults,
                    plans: *plans,
                })
            }
            (Met::Yes | Met::No(_), _) => None,
        },
    }
}
