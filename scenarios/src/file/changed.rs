//! A scenario with some of its keys changed, as a `[[repair]]` would change them, without a file.

use super::{RepairTable, Scenario, ScenarioError};
use std::collections::BTreeMap;

impl Scenario {
    /// The same with these changes: dotted paths and whole tables, as in `set` of a `[[repair]]`.
    /// What was only said about it stays, but what was expected of it, and its repairs, go.
    ///
    /// # Errors
    ///
    /// As [`Scenario::parse`]: a path that leads nowhere, a value that does not fit, keys that
    /// contradict each other.
    pub fn changed(&self, set: &toml::Table) -> Result<Scenario, ScenarioError> {
        let repair = RepairTable {
            name: "changed".to_owned(),
            set: set.clone(),
            ..RepairTable::default()
        };
        let repair = toml::to_string(&BTreeMap::from([("repair", [repair])]))
            .map_err(|error| ScenarioError::whole(&self.name, error.to_string()))?;
        let text = format!("{}\n{repair}", self.written_out());
        let mut repairs = Scenario::parse(&text, &self.name)?.repairs.into_iter();
        let changed = repairs
            .next()
            .map_or_else(Scenario::default, |repair| *repair.scenario);
        Ok(Scenario {
            name: self.name.clone(),
            about: self.about.clone(),
            source: self.source.clone(),
            tags: self.tags.clone(),
            explore: self.explore.clone(),
            ..changed
        })
    }
}
