//! The plans by which a certificate is spot-checked.
//!
//! They are drawn by the scenario's hash and nothing else: each grows fault by fault at sites that
//! its own execution reached, as the exploration itself grows them, so that every one of them is a
//! plan that was explored. Each is run in full, whatever the exploration could leave out.

use super::Claim;
use crate::{Draw, Execute, ExploreError, Table, random_plan};
use rayon::prelude::*;
use scenarios::spec::Plan;
use scenarios::{Scenario, Token};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many plans are drawn; fewer are kept where some are drawn twice.
pub const SAMPLED: u64 = 256;

/// A plan and what it gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampled {
    /// The seed.
    pub seed: u64,
    /// The seed and the plan.
    pub token: String,
    /// Hash of its history.
    pub trace_hash: String,
}

/// Draws the sample and runs it: by number of faults, then plan, then seed.
pub(super) fn draw(
    claim: &Claim,
    scenario: &Scenario,
    execute: &dyn Execute,
) -> Result<Vec<Sampled>, ExploreError> {
    let tables: Vec<Table> = (0..=claim.deepest())
        .map(|faults| claim.table(scenario, faults))
        .collect();
    let drawn: Vec<(u64, Plan, String)> = (0..SAMPLED)
        .into_par_iter()
        .map(|number| draw_one(number, claim, &tables, scenario.hash(), execute))
        .collect::<Result<_, _>>()?;
    let sorted: BTreeMap<(usize, Plan, u64), String> = drawn
        .into_iter()
        .map(|(seed, plan, trace)| ((plan.faults.len(), plan, seed), trace))
        .collect();
    let scenario_hash = scenario.hash32();
    let sampled = sorted
        .into_iter()
        .filter_map(|((_, plan, seed), trace_hash)| {
            let token = Token {
                scenario_hash,
                seed,
                plan,
                test: None,
            };
            // Only a plan of more faults than a bound may have has no token.
            let token = token.encode().ok()?;
            Some(Sampled {
                seed,
                token,
                trace_hash,
            })
        });
    Ok(sampled.collect())
}

fn draw_one(
    number: u64,
    claim: &Claim,
    tables: &[Table],
    key: u64,
    execute: &dyn Execute,
) -> Result<(u64, Plan, String), ExploreError> {
    let mut draw = Draw::new(key.wrapping_add(number));
    let seeds = claim.explored.seeds;
    let seed = seeds.first + draw.below(seeds.last - seeds.first + 1);
    // The first is the plan without a fault.
    let faults = match (number, claim.deepest()) {
        (0, _) | (_, 0) => 0,
        (_, deepest) => 1 + draw.below(deepest.into()) as usize,
    };
    let table = &tables[faults.min(tables.len() - 1)];
    let drawn = random_plan(execute, table, seed, faults as u8, &mut draw)?;
    Ok((seed, drawn.plan, drawn.outcome.trace_hash.to_string()))
}
