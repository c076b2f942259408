//! `--resume FILE` and `--shard i/n`: where finished work is kept, and which part of it is done here.

use super::check::CheckArgs;
use super::failure::{Failure, note};
use super::select::Subject;
use crate::exit::Exit;
use explore::journal::{JournalError, JournalFile};
use explore::{Journal, Share, perform};
use scenarios::spec::Plan;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The most shards of a check.
const MOST_SHARDS: u64 = 4096;

/// Which of how many shards, from 1: `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// Which, from 1.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Of how many.
    pub const fn of(self) -> u64 {
        self.of
    }

    const fn share(self) -> Share {
        Share {
            number: self.number - 1,
            of: self.of,
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| digits.parse::<u64>().ok();
        let shard = text.split_once('/').and_then(|(which, of)| {
            Some(Shard {
                number: number(which)?,
                of: number(of)?,
            })
        });
        match shard {
            Some(shard) if (1..=shard.of).contains(&shard.number) && shard.of <= MOST_SHARDS => {
                Ok(shard)
            }
            _ => Err(format!(
                "allowed is such as 3/8: from 1/8 to 8/8, of at most {MOST_SHARDS}"
            )),
        }
    }
}

/// What a journal is of: all that its results depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of runkey that explores.
    runkey: String,
    /// Which share of the work is done; `None`: all of it.
    pub shard: Option<Shard>,
    /// The command line of `check`, as far as results depend on it.
    pub arguments: Vec<String>,
    /// The files among its scenarios.
    pub files: Vec<KnownFile>,
    /// Each scenario and repair, in order.
    scenarios: Vec<KnownScenario>,
}

/// A scenario file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    /// As it was named.
    pub path: String,
    /// What stood in it.
    pub text: String,
}

/// A scenario as it was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownScenario {
    name: String,
    hash: String,
    /// Hash of a history without faults: tells whether it is executed as it was.
    trace_hash: Option<String>,
}

impl About {
    /// A check of these scenarios.
    pub fn of(args: &CheckArgs, shard: Option<Shard>, subjects: &[Subject]) -> Self {
        let mut files: Vec<KnownFile> = Vec::new();
        for path in subjects
            .iter()
            .filter_map(|subject| subject.file.as_deref())
        {
            if files.iter().all(|known| known.path != path) {
                files.push(KnownFile {
                    path: path.to_owned(),
                    // It was read a moment ago; should it be gone, its hash is still known.
                    text: std::fs::read_to_string(path).unwrap_or_default(),
                });
            }
        }
        About {
            runkey: env!("CARGO_PKG_VERSION").to_owned(),
            shard,
            arguments: args.asked(),
            files,
            scenarios: subjects.iter().map(KnownScenario::of).collect(),
        }
    }

    /// With the files that a journal has, in the place of those on disk.
    pub fn with_files_of(mut self, other: &About) -> Self {
        self.files.clone_from(&other.files);
        self
    }

    fn text(&self) -> String {
        // Texts, numbers and lists of them: there is nothing to fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn read(text: &str) -> Result<Self, JournalError> {
        serde_json::from_str(text).map_err(|_| JournalError::NoJournal)
    }

    /// Why what another journal holds does not belong here.
    pub fn differs_from(&self, other: &About) -> Option<String> {
        let Some(what) = self.work_differs_from(other) else {
            return match (self.shard, other.shard) {
                (one, two) if one == two => None,
                (_, Some(shard)) => Some(format!("it is of shard {shard}")),
                (_, None) => Some("it is of a check that is not sharded".to_owned()),
            };
        };
        Some(what)
    }

    /// The same, whatever share of the work each of them is.
    pub fn work_differs_from(&self, other: &About) -> Option<String> {
        if self.runkey != other.runkey {
            let (ours, theirs) = (&self.runkey, &other.runkey);
            return Some(format!(
                "it is of runkey {theirs}, and this is runkey {ours}"
            ));
        }
        if self.arguments != other.arguments {
            let (ours, theirs) = (self.arguments.join(" "), other.arguments.join(" "));
            return Some(format!("it is of `check {theirs}`, not of `check {ours}`"));
        }
        let pairs = self.scenarios.iter().zip(&other.scenarios);
        for (ours, theirs) in pairs {
            if (&ours.name, &ours.hash) != (&theirs.name, &theirs.hash) {
                return Some(format!("{} has changed since", ours.name));
            }
            if ours.trace_hash != theirs.trace_hash {
                return Some(format!(
                    "this build of runkey executes {} otherwise than the one that began it",
                    ours.name
                ));
            }
        }
        // What is expected is no part of the hash.
        match self.files != other.files || self.scenarios != other.scenarios {
            true => Some("a scenario file has changed since".to_owned()),
            false => None,
        }
    }
}

impl KnownScenario {
    fn of(subject: &Subject) -> Self {
        let scenario = &subject.scenario;
        let seed = scenario.explore.seeds.first;
        // A scenario that cannot be executed is told when it is checked.
        let first = sim::Setup::new(scenario, sim::Parts::default())
            .ok()
            .and_then(|setup| perform(&setup, seed, &Plan::empty()).ok());
        KnownScenario {
            name: scenario.name.clone(),
            hash: format!("{:016x}", scenario.hash()),
            trace_hash: first.map(|outcome| outcome.trace_hash.to_string()),
        }
    }
}

/// Where finished work is kept while a check runs.
pub enum Kept {
    /// Nowhere.
    Nowhere,
    /// In a file, from which it goes on.
    InFile {
        /// Its name.
        path: PathBuf,
        /// The file.
        file: JournalFile,
        /// The share that is done here.
        shard: Option<Shard>,
    },
    /// In the files of all shards.
    InShards(Vec<JournalFile>),
}

impl Kept {
    /// In a file, from which it goes on; where nothing can be written to it, that is told, and the
    /// check goes on without, unless the file is all that it would leave.
    pub fn in_file(
        path: &Path,
        shard: Option<Shard>,
        about: &About,
    ) -> Result<(Self, Exit), Failure> {
        let failed = |error: JournalError| Failure::journal(path, &error);
        let file = match JournalFile::open(path, &about.text()) {
            Err(error @ JournalError::Unwritable(_)) if shard.is_none() => {
                note("error", &failed(error).to_string());
                return Ok((Kept::Nowhere, Exit::Unexpected));
            }
            opened => opened.map_err(failed)?,
        };
        let theirs = About::read(file.about()).map_err(failed)?;
        if let Some(why) = about.differs_from(&theirs) {
            let path = path.display();
            return Err(Failure::Usage(format!("{path}: another journal: {why}")));
        }
        let kept = Kept::InFile {
            path: path.to_owned(),
            file,
            shard,
        };
        Ok((kept, Exit::Holds))
    }

    /// The share of the work that is done here.
    pub fn share(&self) -> Option<Share> {
        match self {
            Kept::InFile { shard, .. } => shard.map(Shard::share),
            _ => None,
        }
    }

    /// Where the batches of one scenario are.
    pub fn journal_of<'a>(&'a self, subject: &Subject) -> Option<Box<dyn Journal + 'a>> {
        match self {
            Kept::Nowhere => None,
            Kept::InFile { file, .. } => Some(Box::new(file.check(&check_name(subject)))),
            Kept::InShards(files) => {
                Some(Box::new(JournalFile::check_in(files, &check_name(subject))))
            }
        }
    }

    /// The shard and the file, as they are told.
    pub fn named(&self) -> (String, String) {
        match self {
            Kept::InFile { path, shard, .. } => {
                let shard = shard.map(|shard| shard.to_string());
                (shard.unwrap_or_default(), path.display().to_string())
            }
            _ => (String::new(), String::new()),
        }
    }

    /// The share of a scenario is done.
    pub fn end(&self, subject: &Subject) {
        if let Kept::InFile { file, .. } = self {
            file.end(&check_name(subject));
        }
    }

    /// Tells what could not be kept, and how the command ends for it.
    pub fn close(&self) -> Exit {
        let Kept::InFile { path, file, .. } = self else {
            return Exit::Holds;
        };
        match file.trouble() {
            None => Exit::Holds,
            Some(error) => {
                let path = path.display();
                note(
                    "error",
                    &format!("{path}: from some batch on nothing could be written: {error}"),
                );
                Exit::Unexpected
            }
        }
    }
}

/// A journal that is read, and what it is of.
pub fn read(path: &Path) -> Result<(JournalFile, About), Failure> {
    let failed = |error: JournalError| Failure::journal(path, &error);
    let file = JournalFile::read(path).map_err(failed)?;
    let about = About::read(file.about()).map_err(failed)?;
    Ok((file, about))
}

/// Tells one check of a journal from the others: whatever its result depends on and the command
/// line does not say.
pub fn check_name(subject: &Subject) -> String {
    format!("{:?} {:?}", subject.file, subject.scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_some() {
        let shard = |text: &str| text.parse::<Shard>();
        assert_eq!(shard("3/8"), Ok(Shard { number: 3, of: 8 }));
        assert_eq!(
            shard("4096/4096").map(|shard| shard.to_string()),
            Ok("4096/4096".to_owned())
        );
        for text in [
            "0/0", "0/4", "5/4", "1/4097", "1", "1/", "/1", "-1/4", "1/4/4", "a/b", "",
        ] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
