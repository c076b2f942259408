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
        let mut changed = document.clone();
        for key in ["repair", "expect"] {
            changed.take(key);
        }
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
