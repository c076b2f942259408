//! Builds the scenario of every `[[repair]]`: the document with its changes in it, read anew.

use super::document::{Document, Node};
use super::{Scenario, ScenarioError};

/// What a repair may change.
const CHANGEABLE: &[&str] = &[
    "epoch",
    "horizon",
    "identity",
    "timer",
    "topology",
    "instance",
    "deploy",
    "change",
    "dispatch",
    "broker",
    "database",
    "lock",
    "coordinator",
    "recovery",
    "guard",
    "work",
    "downstream",
    "judge",
];

/// Fills in [`super::RepairTable::scenario`].
pub(super) fn build(
    document: &Document<'_>,
    scenario: &mut Scenario,
    path: &str,
) -> Result<(), ScenarioError> {
    let mut repairs = std::mem::take(&mut scenario.repairs);
    for (place, repair) in repairs.iter_mut().enumerate() {
        if repair.name.is_empty() {
            let message = "a [[repair]] needs a `name`";
            return Err(document.error(&format!("repair.{place}"), message));
        }
        let mut changed = without(document, &["repair", "expect"]);
        let changes = document
            .get(&format!("repair.{place}.set"))
            .and_then(|set| set.get_ref().as_table());
        for (key, value) in changes.into_iter().flatten() {
            set(&mut changed, scenario, key.get_ref(), value.clone())
                .map_err(|why| document.error_at(key.span(), why))?;
        }
        for key in ["fault", "expect"] {
            if let Some(value) = document.get(&format!("repair.{place}.{key}")) {
                changed.put(&[key], value.clone());
            }
        }
        *repair.scenario = Scenario::from_document(changed, path)?;
        repair.scenario.name = format!("{} + {}", scenario.name, repair.name);
    }
    scenario.repairs = repairs;
    Ok(())
}

/// The scenario as it is configured with the changes at `changes`, which may only be of what is
/// `changeable`.
pub(super) fn configured(
    document: &Document<'_>,
    scenario: &Scenario,
    changes: &str,
    changeable: &[&str],
    path: &str,
) -> Result<Scenario, ScenarioError> {
    let mut changed = without(document, OF_THE_WHOLE);
    let table = document
        .get(changes)
        .and_then(|set| set.get_ref().as_table());
    for (key, value) in table.into_iter().flatten() {
        let may = changeable.iter().any(|allowed| {
            let rest = key.get_ref().strip_prefix(allowed);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if !may {
            let (name, allowed) = (key.get_ref(), changeable.join(", "));
            let message = format!("`{name}` cannot be set by a deploy; allowed are {allowed}");
            return Err(document.error_at(key.span(), message));
        }
        set(&mut changed, scenario, key.get_ref(), value.clone())
            .map_err(|why| document.error_at(key.span(), why))?;
    }
    Scenario::from_document(changed, path)
}

/// The scenario with the keys at `changes` in the timer at this place.
pub(super) fn retimed(
    document: &Document<'_>,
    scenario: &Scenario,
    changes: &str,
    timer: usize,
    path: &str,
) -> Result<Scenario, ScenarioError> {
    let mut changed = without(document, OF_THE_WHOLE);
    changed.take("change");
    let table = document
        .get(changes)
        .and_then(|set| set.get_ref().as_table());
    for (key, value) in table.into_iter().flatten() {
        let id = scenario
            .timers
            .get(timer)
            .map_or("", |timer| timer.id.as_str());
        let path = format!("timer.{id}.{}", key.get_ref());
        set(&mut changed, scenario, &path, value.clone())
            .map_err(|why| document.error_at(key.span(), why))?;
    }
    Scenario::from_document(changed, path)
}

/// What is said of a scenario as a whole, and not of how a process is configured.
const OF_THE_WHOLE: &[&str] = &["repair", "expect", "explore", "fault", "deploy", "instance"];

/// A document without these keys.
fn without<'a>(document: &Document<'a>, keys: &[&str]) -> Document<'a> {
    let mut changed = document.clone();
    for key in keys {
        changed.take(key);
    }
    changed
}

/// Makes one change; says what is allowed where it cannot be made.
fn set<'a>(
    document: &mut Document<'a>,
    scenario: &Scenario,
    path: &str,
    value: Node<'a>,
) -> Result<(), String> {
    let (table, rest) = path.split_once('.').unwrap_or((path, ""));
    if !CHANGEABLE.contains(&table) {
        let allowed = CHANGEABLE.join(", ");
        return Err(format!(
            "`{table}` cannot be changed by a repair; allowed are {allowed}"
        ));
    }
    let (key, names): (&str, Vec<String>) = match table {
        "timer" => (
            "id",
            scenario
                .timers
                .iter()
                .map(|timer| timer.id.clone())
                .collect(),
        ),
        "instance" => ("name", scenario.instance_names()),
        _ => {
            let parts: Vec<&str> = path.split('.').collect();
            return put(document, path, &parts, value);
        }
    };
    if rest.is_empty() {
        return put(document, path, &[table], value);
    }
    // Names may hold dots: the longest name that fits is meant.
    let name = names
        .iter()
        .filter(|name| {
            rest.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .max_by_key(|name| name.len())
        .ok_or_else(|| {
            format!(
                "`{path}` names no {table}; allowed are {}",
                names.join(", ")
            )
        })?;
    let place = document
        .place_in(table, key, name)
        .or_else(|| document.add_to(table, key, name))
        .ok_or_else(|| format!("`{table}` is no list of tables"))?
        .to_string();
    let mut parts = vec![table, place.as_str()];
    parts.extend(
        rest[name.len()..]
            .split('.')
            .filter(|part| !part.is_empty()),
    );
    put(document, path, &parts, value)
}

fn put<'a>(
    document: &mut Document<'a>,
    path: &str,
    parts: &[&str],
    value: Node<'a>,
) -> Result<(), String> {
    match document.put(parts, value) {
        true => Ok(()),
        false => Err(format!("`{path}` leads through something that is no table")),
    }
}
