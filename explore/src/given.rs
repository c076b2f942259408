//! One plan that a person wrote, under every seed (`[[fault]]`).

use crate::check::{explored, first_shown, seed_count};
use crate::counterexample::Rank;
use crate::execute::perform;
use crate::fingerprint::PlanBytes;
use crate::met::judge_plan;
use crate::sample::Repeat;
use crate::{Checked, Control, Execute, Expectation, ExploreError, Level, Wanted, Width};
use scenarios::spec::{FaultSpec, Plan, Site};
use std::ops::RangeInclusive;

/// Gives the plan under each seed: where a fault is named by its occurrence over all runs, the
/// site may differ from seed to seed. See [`find_plan`].
pub type PlanOf<'a> = &'a dyn Fn(u64) -> Result<Plan, ExploreError>;

/// The plan that a person described, under one seed: each fault is looked for among the sites of
/// an execution with those before it. The plan has them in the order in which they strike.
///
/// # Errors
/// [`ExploreError::NotFound`] for a fault whose site is not reached; the execution's own errors.
pub fn find_plan(
    execute: &dyn Execute,
    seed: u64,
    faults: &[FaultSpec],
) -> Result<Plan, ExploreError> {
    let mut plan = Plan::empty();
    let mut sites = sites_of(execute, seed, &plan)?;
    for (place, spec) in faults.iter().enumerate() {
        let fault = spec
            .find(sites.iter().copied())
            .ok_or_else(|| ExploreError::NotFound {
                seed,
                number: place + 1,
                fault: *spec,
            })?;
        plan.faults.push(fault);
        sites = sites_of(execute, seed, &plan)?;
    }
    plan.faults
        .sort_by_key(|fault| sites.iter().position(|site| *site == fault.site));
    Ok(plan)
}

fn sites_of(execute: &dyn Execute, seed: u64, plan: &Plan) -> Result<Vec<Site>, ExploreError> {
    let outcome =
        perform(execute, seed, plan).map_err(|source| ExploreError::at(seed, plan, source))?;
    Ok(outcome.sites.iter().map(|reached| reached.site).collect())
}

/// Runs the empty plan and one given plan under all seeds, and judges: the empty plan must not
/// fail, and the given one must do what is expected under every seed.
///
/// `faults_needed` of the expectation, if stated, is the number of faults of the plan.
///
/// # Errors
/// An execution that fails, a fault without effect, a plan that does not repeat; those of
/// `plan_of`.
pub fn check_plan(
    execute: &dyn Execute,
    seeds: &RangeInclusive<u64>,
    plan_of: PlanOf<'_>,
    expectation: &Expectation,
    control: &Control,
) -> Result<Checked, ExploreError> {
    let run = Run {
        execute,
        seeds,
        control,
    };
    let empty = run.level(&|_| Ok(Plan::empty()), &|_, _| false)?;
    let given = run.level(plan_of, &|plan, judgement| {
        expectation.is_matched_by(plan, judgement)
    })?;
    let levels = [empty, given];
    Ok(Checked {
        met: judge_plan(expectation, &levels, seed_count(seeds)),
        explored: explored(&levels, Vec::new(), seeds, Width::default()),
        counterexample: first_shown(&levels),
        next: None,
        also_never_seen: Vec::new(),
        levels: levels.into(),
    })
}

struct Run<'a> {
    execute: &'a dyn Execute,
    seeds: &'a RangeInclusive<u64>,
    control: &'a Control,
}

impl Run<'_> {
    fn level(&self, plan_of: PlanOf<'_>, wanted: Wanted<'_>) -> Result<Level, ExploreError> {
        let mut level = Level::default();
        for seed in self.seeds.clone() {
            if let Some(cut) = self.control.cut() {
                level.cut = Some(cut);
                break;
            }
            let plan = plan_of(seed)?;
            level.faults = u8::try_from(plan.faults.len()).unwrap_or(u8::MAX);
            self.add(&mut level, seed, &plan, wanted)?;
        }
        let again = level.samples.repeat(self.execute)?;
        level.repeated += again;
        level.executions += again;
        Ok(level)
    }

    fn add(
        &self,
        level: &mut Level,
        seed: u64,
        plan: &Plan,
        wanted: Wanted<'_>,
    ) -> Result<(), ExploreError> {
        let outcome = perform(self.execute, seed, plan)
            .map_err(|source| ExploreError::at(seed, plan, source))?;
        level.executions += 1;
        // One plan: where its sites stand does not matter for its place among others.
        let places = vec![0; plan.faults.len()];
        let rank = Rank {
            places: &places,
            faults: &plan.faults,
            seed,
        };
        let mut bytes = PlanBytes::of(seed, &plan.faults);
        level.digest.merge(bytes.digest(outcome.trace_hash));
        let hash = bytes.hash();
        level.samples.offer(hash, || Repeat {
            hash,
            seed,
            plan: plan.clone(),
            first: outcome.trace_hash,
            cut: None,
        });
        level.add(&rank, &outcome, wanted(plan, &outcome.judgement));
        Ok(())
    }
}
