//! A check as a journal remembers it: as much of its command line as its results depend on.

use super::check::CheckArgs;
use super::check_again;
use super::failure::Failure;
use super::kept::KnownFile;
use super::select::{self, Subject};
use clap::ValueEnum;
use scenarios::Scenario;
use std::path::PathBuf;

impl CheckArgs {
    /// The arguments that decide the results, in one order.
    ///
    /// A new argument that does belongs here, which a test reminds of.
    pub fn asked(&self) -> Vec<String> {
        let mut words = self.scenario.clone();
        let mut flag = |name: &str, is_set: bool| {
            if is_set {
                words.push(name.to_owned());
            }
        };
        flag("--all", self.all);
        flag("--all-plans", self.all_plans);
        flag("--no-merging", self.no_merging);
        let mut value = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push(name.to_owned());
                words.push(value);
            }
        };
        value("--faults", self.faults.map(|faults| faults.to_string()));
        value("--space", self.space.map(|space| space.name().to_owned()));
        let how_far = self.survivors.and_then(|one| one.to_possible_value());
        value("--survivors", how_far.map(|one| one.get_name().to_owned()));
        value("--beyond", self.beyond.map(|plans| plans.to_string()));
        value("--seeds", self.seeds.map(|seeds| seeds.to_string()));
        words
    }

    /// What [`CheckArgs::asked`] has said, for a merge: without times.
    pub fn merging(
        asked: &[String],
        certificate: Option<PathBuf>,
        jobs: Option<u16>,
    ) -> Result<Self, Failure> {
        match check_again(asked) {
            Some(args) => Ok(CheckArgs {
                certificate,
                jobs,
                no_timing: true,
                ..args
            }),
            None => Err(Failure::Usage(format!(
                "a journal of `check {}`, which this version of runkey does not know",
                asked.join(" ")
            ))),
        }
    }

    /// What is to be checked: each scenario, then its repairs. Files that are known already are not
    /// read again.
    pub fn subjects(&self, known: &[KnownFile]) -> Result<Vec<Subject>, Failure> {
        let named = |name: &String| match known.iter().find(|file| file.path == *name) {
            Some(file) => Ok(Subject {
                scenario: Scenario::parse(&file.text, &file.path)?,
                file: Some(file.path.clone()),
            }),
            None => select::scenario(name),
        };
        let subjects: Vec<Subject> = match self.all {
            true => select::catalogue()?
                .into_iter()
                .map(|listed| Subject {
                    scenario: listed.scenario,
                    file: None,
                })
                .collect(),
            false => self
                .scenario
                .iter()
                .map(named)
                .collect::<Result<_, Failure>>()?,
        };
        Ok(subjects.into_iter().flat_map(with_repairs).collect())
    }
}

fn with_repairs(mut subject: Subject) -> Vec<Subject> {
    let repairs = std::mem::take(&mut subject.scenario.repairs);
    let file = subject.file.clone();
    let repaired = repairs.into_iter().map(move |repair| Subject {
        scenario: *repair.scenario,
        file: file.clone(),
    });
    std::iter::once(subject).chain(repaired).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use clap::CommandFactory;

    /// What decides the results stands in [`super::CheckArgs::asked`].
    const DECIDING: [&str; 9] = [
        "survivors",
        "beyond",
        "scenario",
        "all",
        "faults",
        "space",
        "seeds",
        "all_plans",
        "no_merging",
    ];

    /// What does not: how far one call goes, where things are written, on how many threads.
    const OTHER: [&str; 6] = [
        "budget",
        "certificate",
        "resume",
        "shard",
        "jobs",
        "no_timing",
    ];

    #[test]
    fn of_every_argument_it_is_decided_whether_results_depend_on_it() {
        let command = Cli::command();
        let check = command.find_subcommand("check").map(|check| {
            let own = check.get_arguments().filter(|one| !one.is_global_set());
            let mut names: Vec<&str> = own.map(|one| one.get_id().as_str()).collect();
            names.sort_unstable();
            names
        });
        let mut known = [&DECIDING[..], &OTHER[..]].concat();
        known.sort_unstable();
        assert_eq!(check, Some(known));
    }
}
