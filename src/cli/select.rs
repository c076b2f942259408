//! Which scenario is meant: a name of the catalogue, or a file.

use super::failure::Failure;
use scenarios::catalogue::{self, Entry};
use scenarios::matrix;
use scenarios::{Scenario, Token};
use std::path::Path;

/// A scenario, and where it is from.
pub struct Subject {
    /// What is simulated.
    pub scenario: Scenario,
    /// Its file, as it was named; `None` for one of the catalogue.
    pub file: Option<String>,
}

/// A scenario of the catalogue.
pub struct Listed {
    /// The scenario.
    pub scenario: Scenario,
    /// Its file in the repository.
    pub path: String,
}

/// Every scenario of the catalogue, by layer, then name.
pub fn catalogue() -> Result<Vec<Listed>, Failure> {
    let listed = |entry: Entry| {
        Ok(Listed {
            scenario: entry.scenario()?,
            path: format!("scenarios/catalogue/{}", entry.path),
        })
    };
    catalogue::all().into_iter().map(listed).collect()
}

/// The scenario with this name, or in this file.
pub fn scenario(named: &str) -> Result<Subject, Failure> {
    if let Some(entry) = catalogue::find(named) {
        return Ok(Subject {
            scenario: entry.scenario()?,
            file: None,
        });
    }
    if let Some(entry) = matrix::find(named) {
        return Ok(Subject {
            scenario: entry.scenario,
            file: None,
        });
    }
    if is_path(named) {
        return Ok(Subject {
            scenario: Scenario::load(named)?,
            file: Some(named.to_owned()),
        });
    }
    let like = like(named);
    let like = match like.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", like.join(" or ")),
    };
    Err(Failure::Usage(format!(
        "there is no scenario `{named}` in the catalogue, and no such file{like} (runkey list shows \
         all)"
    )))
}

/// The scenario that a token belongs to: of the catalogue, or in the file that is named.
pub fn scenario_of(token: &Token, named: Option<&str>) -> Result<Subject, Failure> {
    let hash = token.scenario_hash;
    let Some(named) = named else {
        let of_catalogue = catalogue::find_by_hash(hash).map(|(_, scenario)| scenario);
        let of_table = || matrix::find_by_hash(hash).map(|entry| entry.scenario);
        return match of_catalogue.or_else(of_table) {
            Some(scenario) => Ok(Subject {
                scenario,
                file: None,
            }),
            None => Err(Failure::Usage(format!(
                "no scenario of the catalogue has this token's hash ({hash:08x}): name the scenario's \
                 file behind the token; if the token is of a catalogue scenario, that has changed since"
            ))),
        };
    };
    let mut subject = scenario(named)?;
    if subject.scenario.hash32() == hash {
        return Ok(subject);
    }
    let mut repairs = std::mem::take(&mut subject.scenario.repairs).into_iter();
    match repairs.find(|repair| repair.scenario.hash32() == hash) {
        Some(repair) => Ok(Subject {
            scenario: *repair.scenario,
            ..subject
        }),
        None => Err(Failure::Usage(format!(
            "the token is of another scenario (hash {hash:08x}) than {named} (hash {:08x}), or that \
             has changed since",
            subject.scenario.hash32()
        ))),
    }
}

/// A name of the catalogue has no slash and no extension.
fn is_path(named: &str) -> bool {
    named.contains(['/', '\\']) || named.contains('.') || Path::new(named).exists()
}

/// At most two names that could have been meant, the likeliest first.
fn like(named: &str) -> Vec<String> {
    let mut like: Vec<(f64, &str)> = catalogue::all()
        .iter()
        .map(|entry| (strsim::jaro_winkler(named, entry.name), entry.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .collect();
    like.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    like.into_iter()
        .take(2)
        .map(|(_, name)| name.to_owned())
        .collect()
}
