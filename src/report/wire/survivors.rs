//! What would have stopped a counterexample, as a program reads it.

use super::WireFault;
use crate::report::Survivors;
use evidence::Cast;
use explore::{Survival, UnderEveryPlan};
use scenarios::cures::Cured;
use serde::Serialize;

/// A change that was tried.
#[derive(Serialize)]
pub(super) struct WireSurvivor<'a> {
    name: &'a str,
    /// What kind of change it is; the list goes from the cheapest to the dearest.
    cost: &'static str,
    /// Dotted paths and values, as in the `set` of a `[[repair]]`.
    change: serde_json::Value,
    this_plan: WireThisPlan<'a>,
    /// Null where it was not explored.
    bounded_space: Option<WireSpace>,
}

#[derive(Serialize)]
struct WireThisPlan<'a> {
    verdict: &'static str,
    survives: bool,
    /// Faults whose site the changed scenario does not reach.
    left_out: Vec<WireFault<'a>>,
}

#[derive(Serialize)]
struct WireSpace {
    space: String,
    max_faults: u8,
    exhausted: bool,
    seeds: String,
    plans: u64,
    merged: u64,
    /// Null where that is not known.
    survives: Option<bool>,
    /// Of the smallest plan that breaks it.
    verdict: Option<&'static str>,
    /// The faults of that plan.
    by: Vec<String>,
}

impl<'a> WireSurvivor<'a> {
    pub fn all(survivors: &'a Survivors, cast: &'a Cast) -> Vec<Self> {
        let tried = survivors.tried.iter();
        tried
            .map(|(cured, survival)| WireSurvivor::of(cured, survival, cast))
            .collect()
    }

    fn of(cured: &'a Cured, survival: &Survival, cast: &'a Cast) -> Self {
        let this_plan = &survival.this_plan;
        WireSurvivor {
            name: &cured.name,
            cost: cured.cost.name(),
            // Strings, numbers, lists and tables: all of them are JSON, too.
            change: serde_json::to_value(&cured.set).unwrap_or_default(),
            this_plan: WireThisPlan {
                verdict: this_plan.verdict.name(),
                survives: survival.survives_plan(),
                left_out: (this_plan.left_out.iter())
                    .map(|fault| WireFault::of(fault, cast))
                    .collect(),
            },
            bounded_space: survival.every_plan.as_ref().map(WireSpace::of),
        }
    }
}

impl WireSpace {
    fn of(found: &UnderEveryPlan) -> Self {
        let spaces = found.spaces.iter().map(|each| each.space.versioned());
        let example = found.breaks.as_ref();
        WireSpace {
            space: spaces.collect::<Vec<_>>().join("+"),
            max_faults: found.max_faults(),
            exhausted: found.spaces.iter().all(|each| each.exhausted),
            seeds: format!("{}..{}", found.seeds.start(), found.seeds.end()),
            plans: found.plans,
            merged: found.merged,
            survives: match (example, &found.unknown) {
                (Some(_), _) => Some(false),
                (None, None) => Some(true),
                (None, Some(_)) => None,
            },
            verdict: example.map(|example| example.verdict().name()),
            by: (example.into_iter())
                .flat_map(|example| example.cells())
                .map(|cell| cell.to_string())
                .collect(),
        }
    }
}
