//! One line of the catalogue.

use scenarios::Scenario;
use serde::Serialize;

/// What a list says of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// What it is called.
    pub name: String,
    /// Where its failure is born; `None` where it holds.
    pub layer: Option<String>,
    /// How runs travel.
    pub topology: &'static str,
    /// What decides whether an attempt may run.
    pub guard: &'static str,
    /// The verdict that is true of it.
    pub expected: &'static str,
    /// Where it comes from.
    pub source: Option<String>,
    /// Its file.
    pub path: String,
}

impl Listing {
    /// Of a scenario, and where its file is.
    pub fn of(scenario: &Scenario, path: String) -> Self {
        let expect = scenario.expect.clone().unwrap_or_default();
        Listing {
            name: scenario.name.clone(),
            layer: expect.layer.map(|layer| layer.to_string()),
            topology: scenario.topology.kind.name(),
            guard: scenario.guard.name(),
            expected: expect.verdict.name(),
            source: scenario.source.clone(),
            path,
        }
    }
}
