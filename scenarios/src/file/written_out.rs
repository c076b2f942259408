//! A scenario as a file again, with every default written out: what a certificate carries, so that
//! it can be verified where the file is not at hand, and after the defaults have changed.

use super::Scenario;

impl Scenario {
    /// TOML that reads as the same scenario: the same [`Scenario::hash`]. Name, about, source,
    /// tags, explore, expect and repairs, which say nothing of what is simulated, are left out.
    pub fn written_out(&self) -> String {
        // A scenario is made of tables, texts, numbers within limits and lists of them, which TOML
        // can write; a test holds it for the whole catalogue.
        let mut table = toml::Table::try_from(self).unwrap_or_default();
        if let Some(topology) = table
            .get_mut("topology")
            .and_then(toml::Value::as_table_mut)
        {
            for key in self.topology.kind.foreign_keys() {
                topology.remove(key);
            }
        }
        toml::to_string(&table).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::catalogue;

    #[test]
    fn every_scenario_of_the_catalogue_reads_back_as_itself() {
        for entry in catalogue::all() {
            let mut scenario = entry.scenario().unwrap();
            let repairs = std::mem::take(&mut scenario.repairs);
            let repairs = repairs.into_iter().map(|repair| *repair.scenario);
            for scenario in std::iter::once(scenario).chain(repairs) {
                let text = scenario.written_out();
                let again = Scenario::parse(&text, "written out").unwrap();
                assert_eq!(again.canonical(), scenario.canonical(), "{}", scenario.name);
                assert_eq!(again.written_out(), text);
            }
        }
    }
}
