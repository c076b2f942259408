//! What might help: the changes of a set-up that are tried when a plan breaks it.
//!
//! Each is a *cure*: a few keys of the scenario file, written as the `set` of a `[[repair]]`, with a
//! name and what it [costs](Cost). [`cures_of`] makes those that fit a scenario out of the list in
//! `list.rs`: what is there already, what the scenario has no use for and what would make it invalid
//! is left out, and of two ways to the same set-up the cheaper stays. Whether a cure helps is not
//! said here; it is executed.

mod computed;
mod list;

use crate::Scenario;
use list::{Part, RECOMMENDED, SINGLE, Stands, TOGETHER, Value};
use std::collections::BTreeSet;

/// What a change costs whoever makes it, from the cheapest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cost {
    /// A value of something that is there: a line of configuration, and it can be taken back.
    Setting,
    /// Something new in the job's own code, and a table or a service for it: a guard, a claim, an
    /// outbox, recovery.
    Part,
    /// Something that whoever runs the downstream has to do, or may not be able to.
    Downstream,
    /// Several of these at once.
    Several,
}

impl Cost {
    /// As written in output.
    pub const fn name(self) -> &'static str {
        match self {
            Cost::Setting => "setting",
            Cost::Part => "part",
            Cost::Downstream => "downstream",
            Cost::Several => "several",
        }
    }
}

/// A scenario with a change that might help.
#[derive(Clone, Debug, PartialEq)]
pub struct Cured {
    /// What the change is called.
    pub name: String,
    /// What it costs.
    pub cost: Cost,
    /// The keys that are changed, as in the `set` of a `[[repair]]`.
    pub set: toml::Table,
    /// The scenario with them.
    pub scenario: Scenario,
}

impl Cured {
    /// True if this changes all that the other changes, in the same way, and more.
    pub fn extends(&self, other: &Cured) -> bool {
        self.set.len() > other.set.len()
            && (other.set.iter()).all(|(path, value)| self.set.get(path) == Some(value))
    }
}

/// Every change of the list that fits a scenario, the cheapest first, each set-up once.
pub fn cures_of(scenario: &Scenario) -> Vec<Cured> {
    let mut seen = BTreeSet::from([scenario.hash()]);
    let together = TOGETHER
        .iter()
        .filter_map(|names| together(scenario, names));
    let mut cures: Vec<Cured> = (SINGLE.iter().filter_map(|part| applied(scenario, part)))
        .chain(together)
        .chain(
            RECOMMENDED
                .iter()
                .filter_map(|part| applied(scenario, part)),
        )
        .filter(|cured| seen.insert(cured.scenario.hash()))
        .collect();
    cures.sort_by_key(|cured| cured.cost);
    cures
}

/// An entry of the list, whatever it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What the change is called.
    pub name: String,
    /// What it costs.
    pub cost: Cost,
    /// What it sets, a line of TOML for each key; empty where it is other entries together. A
    /// value that is made out of the scenario is written `..`.
    pub sets: Vec<String>,
}

/// The whole list, in the order in which it is tried.
pub fn list() -> Vec<Listed> {
    let listed = |part: &Part| Listed {
        name: part.name.to_owned(),
        cost: part.cost,
        sets: (part.set.iter())
            .map(|(path, value)| match value {
                Value::To(text) => format!("{path} = {text}"),
                Value::By(_) => format!("{path} = .."),
            })
            .collect(),
    };
    let together = TOGETHER.iter().map(|names| Listed {
        name: names.join(" + "),
        cost: Cost::Several,
        sets: Vec::new(),
    });
    (SINGLE.iter().map(listed))
        .chain(together)
        .chain(RECOMMENDED.iter().map(listed))
        .collect()
}

/// One entry of the list, applied.
fn applied(scenario: &Scenario, part: &Part) -> Option<Cured> {
    if (part.stands)(scenario) != Stands::Missing {
        return None;
    }
    cured(
        scenario,
        part.name.to_owned(),
        part.cost,
        settings(scenario, part)?,
    )
}

/// Several entries of the list, applied together; what is there already is not mentioned.
fn together(scenario: &Scenario, names: &[&str]) -> Option<Cured> {
    let mut left = Vec::new();
    let mut set = toml::Table::new();
    for name in names {
        let part = SINGLE.iter().find(|part| part.name == *name)?;
        match (part.stands)(scenario) {
            Stands::There => {}
            Stands::NoUse => return None,
            Stands::Missing => {
                let more = settings(scenario, part)?;
                if scenario.changed(&more).ok()?.hash() != scenario.hash() {
                    left.push(*name);
                    set.extend(more);
                }
            }
        }
    }
    cured(scenario, left.join(" + "), Cost::Several, set)
}

/// `None` where nothing would change, or where what comes out is no scenario.
fn cured(scenario: &Scenario, name: String, cost: Cost, set: toml::Table) -> Option<Cured> {
    let set = without_what_stands(scenario, set)?;
    let changed = scenario.changed(&set).ok()?;
    (!set.is_empty()).then_some(Cured {
        name,
        cost,
        set,
        scenario: changed,
    })
}

/// Only those of the settings without which something else would come out.
fn without_what_stands(scenario: &Scenario, mut set: toml::Table) -> Option<toml::Table> {
    if set.len() == 1 {
        return Some(set);
    }
    let hash = scenario.changed(&set).ok()?.hash();
    let paths: Vec<String> = set.keys().cloned().collect();
    for path in paths {
        let Some(value) = set.remove(&path) else {
            continue;
        };
        let same = scenario.changed(&set).ok().map(|changed| changed.hash()) == Some(hash);
        if !same {
            set.insert(path, value);
        }
    }
    Some(set)
}

/// What an entry sets in this scenario; `None` where that has no use for it. Of a whole stack only
/// that is left out.
fn settings(scenario: &Scenario, part: &Part) -> Option<toml::Table> {
    let mut set = toml::Table::new();
    for (path, value) in part.set {
        match setting(scenario, path, value) {
            Some(value) => put(&mut set, scenario, path, &value),
            None if part.cost == Cost::Several => {}
            None => return None,
        }
    }
    Some(set)
}

fn setting(scenario: &Scenario, path: &str, value: &Value) -> Option<toml::Value> {
    // Without a broker there is nothing to set, unless a table is the queue.
    let of_rows = ["broker.ack_deadline", "broker.renew_every"].contains(&path);
    let of_rows = of_rows && scenario.topology.queues_in_table();
    if path.starts_with("broker") && !scenario.topology.kind.has_broker() && !of_rows {
        return None;
    }
    match value {
        Value::To(text) => parse(text),
        Value::By(compute) => parse(&compute(scenario)?),
    }
}

fn put(set: &mut toml::Table, scenario: &Scenario, path: &str, value: &toml::Value) {
    match path.strip_prefix("timer.*.") {
        None => {
            set.insert(path.to_owned(), value.clone());
        }
        Some(key) => {
            for timer in &scenario.timers {
                set.insert(format!("timer.{}.{key}", timer.id), value.clone());
            }
        }
    }
}

/// A value written in TOML.
fn parse(text: &str) -> Option<toml::Value> {
    let mut table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    table.remove("value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_list_has_a_name_of_its_own_and_values_that_are_toml() {
        let mut names = BTreeSet::new();
        for part in SINGLE.iter().chain(RECOMMENDED) {
            assert!(names.insert(part.name), "{}", part.name);
            for (path, value) in part.set {
                if let Value::To(text) = value {
                    assert!(parse(text).is_some(), "{}: {path} = {text}", part.name);
                }
            }
        }
        for name in TOGETHER.iter().copied().flatten() {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn the_list_is_written_from_cheap_to_dear() {
        assert!(SINGLE.is_sorted_by_key(|part| part.cost));
        assert!(RECOMMENDED.iter().all(|part| part.cost == Cost::Several));
        assert!(TOGETHER.is_sorted_by_key(|names| names.len()));
    }
}
