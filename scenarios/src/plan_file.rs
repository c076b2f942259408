//! Plan files: what a token says, written for people.
//!
//! ```toml
//! scenario = "crash-before-ack"   # a name of the catalogue, or a path
//! seed = 1
//!
//! [[fault]]
//! at = { instance = "executor-1", step = "broker.ack", run = "report#1", occurrence = 1, phase = "before" }
//! do = "crash"
//! ```

use crate::Scenario;
use crate::file::document::Document;
use crate::file::{FaultTable, ScenarioError, read, utf8};
use crate::spec::{Fault, Plan, Site};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A plan file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// The scenario: a name of the catalogue, or a path (from where the file stands).
    pub scenario: String,
    /// The seed.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// The name of the test that brings parts of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The faults, in the order in which they strike, each with its whole site.
    #[serde(default, rename = "fault")]
    pub faults: Vec<FaultTable>,
}

const fn first_seed() -> u64 {
    1
}

impl PlanFile {
    /// Reads a plan from TOML; `path` is what errors call the file.
    ///
    /// # Errors
    ///
    /// One sentence with line and column.
    pub fn parse(text: &str, path: &str) -> Result<PlanFile, ScenarioError> {
        Document::parse(text, path)?.read()
    }

    /// Reads a plan file.
    ///
    /// # Errors
    ///
    /// As [`PlanFile::parse`], and where the file cannot be read or is no text.
    pub fn load(path: impl AsRef<Path>) -> Result<PlanFile, ScenarioError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        Self::parse(utf8(&read(path, &name)?, &name)?, &name)
    }

    /// The plan, with the names of this scenario resolved; `path` is what errors call the file.
    ///
    /// # Errors
    ///
    /// If a fault does not name its whole site, or names something that the scenario does not
    /// have.
    pub fn plan(&self, scenario: &Scenario, path: &str) -> Result<Plan, ScenarioError> {
        let wrong = |place: usize, key: &str, message: &str| {
            let message = format!("[[fault]] number {}, {key}: {message}", place + 1);
            ScenarioError::whole(path, message)
        };
        let resolve = |(place, table): (usize, &FaultTable)| {
            let spec = table
                .spec(scenario)
                .map_err(|error| wrong(place, error.key, &error.message))?;
            let missing = |key| {
                wrong(
                    place,
                    key,
                    "a plan file names the whole site; this is missing",
                )
            };
            Ok(Fault {
                site: Site {
                    instance: spec.instance.ok_or_else(|| missing("at.instance"))?,
                    step: spec.step,
                    run: spec.run.ok_or_else(|| missing("at.run"))?,
                    n: spec.occurrence,
                    phase: spec.phase,
                },
                kind: spec.kind,
                magnitude_ms: spec.magnitude_ms,
            })
        };
        let faults = self
            .faults
            .iter()
            .enumerate()
            .map(resolve)
            .collect::<Result<_, _>>()?;
        Ok(Plan { faults })
    }

    /// The file of a plan; `None` if the plan names something that the scenario does not have.
    pub fn of(name: &str, seed: u64, plan: &Plan, scenario: &Scenario) -> Option<PlanFile> {
        let cast = scenario.cast();
        let faults = plan.faults.iter().map(|fault| FaultTable::of(fault, &cast));
        Some(PlanFile {
            scenario: name.to_owned(),
            seed,
            test: None,
            faults: faults.collect::<Option<_>>()?,
        })
    }

    /// The file's text.
    pub fn to_toml(&self) -> String {
        // Strings, numbers and one level of tables: there is nothing that TOML cannot hold.
        toml::to_string(self).unwrap_or_default()
    }
}
