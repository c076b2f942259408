//! What would have stopped a counterexample, in words.

use super::set_up::count;
use super::summary::faults_of;
use explore::{Survival, UnderEveryPlan, Unknown};
use scenarios::cures::{Cost, Cured};

/// The changes that were tried against a counterexample, the cheapest first.
#[derive(Clone, Debug)]
pub struct Survivors {
    /// Each change, and what came of it.
    pub tried: Vec<(Cured, Survival)>,
}

/// At most so many changes are told that survive the plan and not more than that.
const TOLD: usize = 4;

type Tried = (Cured, Survival);

/// A line each: first what survives every plan, then what survives this one alone.
pub(super) fn told(survivors: &Survivors) -> Vec<String> {
    let tried = || survivors.tried.iter();
    let mut lines: Vec<String> = (tried())
        .filter(|(_, survival)| survival.survives_all())
        .filter_map(|(cured, survival)| {
            let found = survival.every_plan.as_ref()?;
            Some(format!("{}: survives {}", cured.name, every_plan(found)))
        })
        .collect();
    let only: Vec<&Tried> = tried()
        .filter(|(_, survival)| survival.every_plan.is_some() && !survival.survives_all())
        .collect();
    let told = telling(&only);
    let more = only.len() - told.len();
    for (cured, survival) in told {
        let broken = survival.every_plan.as_ref().map(broken);
        let broken = broken.unwrap_or_default();
        lines.push(format!("{}: this plan only, {broken}", cured.name));
    }
    if more > 0 {
        lines.push(format!(
            "{}: this plan only",
            count(more as u64, "other change")
        ));
    }
    if lines.is_empty() {
        lines.push(under_plan(survivors));
    }
    lines
}

/// Of each cost the first and the last: what comes to mind first, and what comes closest. Several
/// changes at once that are not enough tell little.
fn telling<'a>(tried: &[&'a Tried]) -> Vec<&'a Tried> {
    let of_one_cost = tried.chunk_by(|one, other| one.0.cost == other.0.cost);
    let ends = of_one_cost.flat_map(|chunk| match chunk {
        [] => vec![],
        [one] => vec![*one],
        [first, .., last] => vec![*first, *last],
    });
    let (several, single): (Vec<_>, Vec<_>) =
        ends.partition(|(cured, _)| cured.cost == Cost::Several);
    match single.is_empty() {
        true => several,
        false => single.into_iter().take(TOLD).collect(),
    }
}

/// Where nothing was explored: what survives this plan, which may be nothing.
fn under_plan(survivors: &Survivors) -> String {
    let survive: Vec<&Tried> = (survivors.tried.iter())
        .filter(|(_, survival)| survival.survives_plan())
        .collect();
    if survive.is_empty() {
        let tried = count(survivors.tried.len() as u64, "change");
        return format!("nothing in the list ({tried} tried)");
    }
    let told = telling(&survive);
    let mut names: Vec<String> = told.iter().map(|(cured, _)| cured.name.clone()).collect();
    if survive.len() > names.len() {
        names.push(format!("{} more", survive.len() - names.len()));
    }
    format!("under this plan: {}", names.join("; "))
}

/// `every plan of up to 2 faults (core/1) and 1 fault (full/1), seed 1`.
fn every_plan(found: &UnderEveryPlan) -> String {
    let seeds = match (found.seeds.start(), found.seeds.end()) {
        (first, last) if first == last => format!("seed {first}"),
        (first, last) => format!("seeds {first}..{last}"),
    };
    if found.max_faults() == 0 {
        return format!("as long as nothing goes wrong, {seeds}");
    }
    let spaces = found.spaces.iter();
    let spaces: Vec<String> = spaces
        .map(|each| format!("{} ({})", count(each.max_faults, "fault"), each.space))
        .collect();
    format!("every plan of up to {}, {seeds}", spaces.join(" and "))
}

/// `duplicate with 1 fault (crash@guard.finish)`, or why that is not known.
fn broken(found: &UnderEveryPlan) -> String {
    match (&found.breaks, &found.unknown) {
        (Some(example), _) => {
            let faults = example.plan.faults.len();
            let verdict = example.verdict();
            let cells: Vec<String> = example.cells().map(|cell| cell.to_string()).collect();
            match faults {
                0 => format!("{verdict} with no fault at all"),
                _ => format!(
                    "{verdict} with {} ({})",
                    faults_of(faults),
                    cells.join(", ")
                ),
            }
        }
        (None, Some(Unknown::TooLarge { faults, plans })) => format!(
            "not explored: {} with {}",
            count(*plans, "plan"),
            faults_of(usize::from(*faults))
        ),
        (None, Some(Unknown::Doubt(doubt))) => format!("not known: {doubt}"),
        (None, None) => String::new(),
    }
}
