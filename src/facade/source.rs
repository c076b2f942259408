//! What is checked: a scenario of the catalogue, a file, a text, or a value.

use super::Error;
use scenarios::{Scenario, catalogue};
use std::path::{Path, PathBuf};

/// Where a scenario comes from.
///
/// A `&str` or `String` is a name of the catalogue, or a path if it has a slash or a dot; a `&Path`
/// or `PathBuf` is a file (relative to where cargo runs tests: the folder of the package); a
/// [`Scenario`] is itself. For TOML text see [`check_toml`](super::check_toml).
pub struct Source(pub(super) Result<Scenario, Error>);

impl Source {
    /// The text of a scenario file.
    pub(super) fn text(text: &str) -> Self {
        Source(Scenario::parse(text, "inline.toml").map_err(Error::from))
    }

    fn named(named: &str) -> Self {
        if let Some(entry) = catalogue::find(named) {
            return Source(entry.scenario().map_err(Error::from));
        }
        match named.contains(['/', '\\', '.']) {
            true => Source(Scenario::load(named).map_err(Error::from)),
            false => Source(Err(Error::UnknownScenario {
                named: named.to_owned(),
                like: like(named),
            })),
        }
    }
}

impl From<&str> for Source {
    fn from(named: &str) -> Self {
        Source::named(named)
    }
}

impl From<String> for Source {
    fn from(named: String) -> Self {
        Source::named(&named)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Source(Scenario::load(path).map_err(Error::from))
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Source::from(path.as_path())
    }
}

impl From<Scenario> for Source {
    fn from(scenario: Scenario) -> Self {
        Source(Ok(scenario))
    }
}

/// The name that was most likely meant, if there is one.
fn like(named: &str) -> String {
    let entries = catalogue::all();
    let likeness = |name: &str| strsim::jaro_winkler(named, name);
    let likeliest = entries
        .iter()
        .map(|entry| (likeness(entry.name), entry.name))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match likeliest {
        Some((likeness, name)) if likeness > 0.8 => format!("; did you mean {name}?"),
        _ => String::new(),
    }
}
