//! The set-ups of the league table: one base, and on it every guard with every protection, each with
//! its defaults.
//!
//! A set-up has a name, such as `matrix:redis_lock+idempotency_key`, that stands wherever a scenario
//! of the catalogue can be named; so what the table shows can be checked, run and replayed.

use crate::{Scenario, ScenarioError};
use scheduler::guards::GuardConfig;

/// The guards, in the order of the table: the list of
/// [`GuardConfig`].
pub fn guards() -> Vec<&'static str> {
    GuardConfig::all().iter().map(GuardConfig::name).collect()
}

/// The protections at the downstream, in the order of the table: the list of
/// [`ProtectionConfig`](scheduler::effects::ProtectionConfig).
pub const PROTECTIONS: [&str; 6] = [
    "none",
    "idempotency_key",
    "fencing_token",
    "lookup_before_retry",
    "transactional",
    "quarantine",
];

/// What all set-ups have in common, in words.
pub const BASE: &str =
    "queued, 2 schedulers, 2 executors, at-least-once broker, outbox, work 200 ms";

/// What the name of each begins with.
const PREFIX: &str = "matrix:";

const BASE_FILE: &str = include_str!("matrix.toml");

/// One set-up of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The guard.
    pub guard: &'static str,
    /// The protection at the downstream; `none` where it is unprotected.
    pub protection: &'static str,
    /// The set-up, under the name by which it can be found.
    pub scenario: Scenario,
}

/// A guard of the list with a protection of the list.
///
/// # Errors
/// Where a scenario file may not say so, or they are not in the lists.
pub fn entry(guard: &'static str, protection: &'static str) -> Result<Entry, ScenarioError> {
    let text = format!(
        "{BASE_FILE}\n[guard]\nkind = '{guard}'\n\
         [downstream]\nprotection = {{ kind = '{protection}' }}"
    );
    let mut scenario = Scenario::parse(&text, "matrix.toml")?;
    scenario.name = name(guard, protection);
    Ok(Entry {
        guard,
        protection,
        scenario,
    })
}

/// The set-up with this name.
pub fn find(named: &str) -> Option<Entry> {
    named.strip_prefix(PREFIX)?;
    let mut pairs = pairs();
    let (guard, protection) = pairs.find(|(guard, protection)| name(guard, protection) == named)?;
    entry(guard, protection).ok()
}

/// The set-up whose [`Scenario::hash32`] a token carries.
pub fn find_by_hash(hash: u32) -> Option<Entry> {
    pairs().find_map(|(guard, protection)| {
        let entry = entry(guard, protection).ok()?;
        (entry.scenario.hash32() == hash).then_some(entry)
    })
}

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let guards = guards().into_iter();
    guards.flat_map(|guard| PROTECTIONS.map(|protection| (guard, protection)))
}

fn name(guard: &str, protection: &str) -> String {
    match protection {
        "none" => format!("{PREFIX}{guard}"),
        _ => format!("{PREFIX}{guard}+{protection}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_guard_goes_with_every_protection_and_each_set_up_is_another() {
        let mut hashes = BTreeSet::new();
        for (guard, protection) in pairs() {
            let entry = entry(guard, protection).unwrap();
            let scenario = entry.scenario;
            assert_eq!(scenario.guard.name(), guard);
            assert_eq!(scenario.downstream.protection.name(), protection);
            assert_eq!(find(&scenario.name).unwrap().scenario, scenario);
            assert_eq!(find_by_hash(scenario.hash32()).unwrap().scenario, scenario);
            assert!(hashes.insert(scenario.hash32()), "{}", scenario.name);
        }
        assert_eq!(hashes.len(), guards().len() * PROTECTIONS.len());
    }

    /// Names that a file may give are told by whoever reads it when one is wrong.
    #[test]
    fn the_lists_are_those_of_the_scenario_file() {
        let allowed = |table: &str| {
            let error = Scenario::parse(table, "t").unwrap_err().to_string();
            let (_, allowed) = error.split_once("allowed are ").unwrap();
            let names = allowed.split('`').skip(1).step_by(2);
            names.map(str::to_owned).collect::<Vec<String>>()
        };
        assert_eq!(allowed("[guard]\nkind = 'no such'"), guards());
        assert_eq!(
            allowed("[downstream]\nprotection = { kind = 'no such' }"),
            PROTECTIONS
        );
    }

    #[test]
    fn what_is_not_in_the_table_has_no_name_in_it() {
        for named in [
            "matrix:",
            "matrix:nothing",
            "redis_lock",
            "matrix:none+none",
        ] {
            assert_eq!(find(named), None, "{named}");
        }
    }
}
