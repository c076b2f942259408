//! Failing plans of four to eight faults, the same every time.

use super::Case;
use runkey_explore::{
    Bound, Check, Control, Draw, Expectation, Outcome, Walking, check, perform, random_plan,
};
use scenarios::spec::{Bounds, Fault, Plan, Space};

/// So many plans are drawn at most: where fewer than one in ten fails, noise makes up for it.
const DRAWN_AT_MOST: u64 = 10_000;

/// A plan that fails.
pub(super) struct Failing {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    /// It was not drawn as a whole: faults were added to a small plan that fails.
    pub(super) noisy: bool,
}

/// So many failing plans, under seeds 1 to 16.
///
/// First those that fail of random plans. Where these are too few, as where two faults must meet
/// within a second, the smallest plans that fail are taken from the exhaustive search, one of each
/// symptom, and random faults are added as long as it goes on failing.
pub(super) fn failing_plans(case: &Case, number: usize) -> Vec<Failing> {
    let mut plans: Vec<Failing> = (0..DRAWN_AT_MOST)
        .filter_map(|key| drawn(case, key))
        .take(number)
        .collect();
    if plans.len() < number {
        let small = smallest(case);
        assert!(!small.is_empty(), "{}", case.scenario.name);
        let noisy = (DRAWN_AT_MOST..).filter_map(|key| with_noise(case, &small, key));
        let missing = number - plans.len();
        plans.extend(noisy.take(missing));
    }
    plans
}

fn drawn(case: &Case, key: u64) -> Option<Failing> {
    let mut draw = Draw::new(key);
    let seed = 1 + draw.below(16);
    let faults = 4 + draw.below(5) as u8;
    let found = random_plan(&case.setup, &case.table, seed, faults, &mut draw).unwrap();
    let fits = found.outcome.judgement.failure && found.plan.faults.len() >= 4;
    fits.then_some(Failing {
        seed,
        plan: found.plan,
        noisy: false,
    })
}

/// The first plan of each symptom, of the first level that breaks.
fn smallest(case: &Case) -> Vec<(u64, Plan)> {
    let core = Bounds::new(&case.scenario, Space::Core);
    let bound = |space, up_to, choices| Bound {
        space,
        up_to,
        choices,
    };
    let checked = check(&Check {
        execute: &case.setup,
        seeds: &(1..=4),
        bounds: &[
            bound(Space::Core, 2, &core),
            bound(Space::Full, 1, &case.space),
        ],
        expectation: &Expectation::Holds { faults: None },
        all_plans: false,
        show_next_up_to: 0,
        walking: Walking::default(),
        control: &Control::new(),
    })
    .unwrap();
    let levels = checked.levels.iter();
    let seen = levels.flat_map(|level| level.symptoms.iter());
    seen.map(|(_, seen)| (seen.first.seed, seen.first.plan.clone()))
        .collect()
}

fn with_noise(case: &Case, small: &[(u64, Plan)], key: u64) -> Option<Failing> {
    /// So often a fault is drawn that may not fit.
    const TRIES: usize = 40;
    let mut draw = Draw::new(key);
    let (seed, mut plan) = small[draw.below(small.len() as u64) as usize].clone();
    let faults = 4 + draw.below(5) as usize;
    let mut outcome = perform(&case.setup, seed, &plan).unwrap();
    for _ in 0..TRIES {
        if plan.faults.len() == faults {
            break;
        }
        let Some(fault) = any_fault(case, &plan, &outcome, &mut draw) else {
            continue;
        };
        let Ok(more) = perform(&case.setup, seed, &plan.with(fault)) else {
            continue;
        };
        if more.judgement.failure {
            plan = plan.with(fault);
            outcome = more;
        }
    }
    plan.faults
        .sort_by_key(|fault| outcome.sites.iter().position(|at| at.site == fault.site));
    (plan.faults.len() == faults).then_some(Failing {
        seed,
        plan,
        noisy: true,
    })
}

/// A fault at any site that the plan does not strike yet.
fn any_fault(case: &Case, plan: &Plan, outcome: &Outcome, draw: &mut Draw) -> Option<Fault> {
    let at = outcome
        .sites
        .get(draw.below(outcome.sites.len() as u64) as usize)?;
    let choices = case.table.at(at);
    let (kind, magnitude_ms) = *choices.get(draw.below(choices.len() as u64) as usize)?;
    let struck = plan.faults.iter().any(|fault| fault.site == at.site);
    (!struck).then_some(Fault {
        site: at.site,
        kind,
        magnitude_ms,
    })
}
