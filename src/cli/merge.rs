//! `runkey merge`: puts together what several machines have explored.

use super::check::{self, CheckArgs};
use super::failure::Failure;
use super::kept::{self, About, Kept, Shard};
use super::output::{self, OutputArgs};
use super::select::Subject;
use crate::exit::Exit;
use clap::Args;
use explore::journal::JournalFile;
use std::path::PathBuf;

/// Put together the shards of a check, as if one machine had done it
///
/// The files of all shards, in any order. The result is that of check without --shard, to the byte,
/// without times.
#[derive(Args)]
#[command(
    after_help = "Example: runkey check recommended-stack --faults 3 --shard 1/2 --resume one.journal\n         \
                        runkey check recommended-stack --faults 3 --shard 2/2 --resume two.journal\n         \
                        runkey merge one.journal two.journal"
)]
pub struct MergeArgs {
    /// The files that check --shard has written with --resume
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Write what is proved, and what is not, to a file for runkey verify
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// How many threads [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// A file of a shard.
struct Read {
    path: String,
    file: JournalFile,
    about: About,
    shard: Shard,
}

pub fn merge(args: &MergeArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let mut shards = Vec::new();
    for path in &args.files {
        shards.push(read(path)?);
    }
    let Some(first) = shards.first() else {
        return Err(Failure::NothingMatched("no file is named".to_owned()));
    };
    let asked = CheckArgs::merging(&first.about.arguments, args.certificate.clone(), args.jobs)?;
    let subjects = asked.subjects(&first.about.files)?;
    let here = About::of(&asked, None, &subjects).with_files_of(&first.about);
    for shard in &shards {
        if let Some(why) = here.work_differs_from(&shard.about) {
            let path = &shard.path;
            return Err(Failure::Usage(format!(
                "{path}: of another check than {}: {why}",
                first.path
            )));
        }
    }
    complete(&shards)?;
    ended(&shards, &subjects)?;
    let inputs = || args.files.iter().map(String::as_str);
    output.spares(inputs())?;
    if let Some(path) = &args.certificate {
        output::spares("--certificate", path, inputs())?;
    }
    let files = shards.into_iter().map(|shard| shard.file).collect();
    check::checked(&asked, &subjects, &Kept::InShards(files), output)
}

fn read(path: &str) -> Result<Read, Failure> {
    let (file, about) = kept::read(path.as_ref())?;
    match about.shard {
        Some(shard) => Ok(Read {
            path: path.to_owned(),
            file,
            about,
            shard,
        }),
        None => Err(Failure::Usage(format!(
            "{path}: no shard but a whole check; go on with it by check --resume {path}"
        ))),
    }
}

/// Every shard is there, once.
fn complete(shards: &[Read]) -> Result<(), Failure> {
    let Some(first) = shards.first() else {
        return Ok(());
    };
    let of = first.shard.of();
    let usage = |text: String| Err(Failure::Usage(text));
    if let Some(other) = shards.iter().find(|shard| shard.shard.of() != of) {
        let (one, two) = (first.shard, other.shard);
        return usage(format!(
            "{} is shard {one}, and {} is shard {two}: of two ways to share the work",
            first.path, other.path
        ));
    }
    for number in 1..=of {
        let mut such = shards.iter().filter(|shard| shard.shard.number() == number);
        match (such.next(), such.next()) {
            (None, _) => return usage(format!("shard {number}/{of} is missing")),
            (Some(one), Some(two)) => {
                let (one, two) = (&one.path, &two.path);
                return usage(format!(
                    "shard {number}/{of} is there twice: {one} and {two}"
                ));
            }
            (Some(_), None) => {}
        }
    }
    Ok(())
}

/// Every shard was run to its end.
fn ended(shards: &[Read], subjects: &[Subject]) -> Result<(), Failure> {
    for shard in shards {
        let explored = subjects
            .iter()
            .filter(|subject| subject.scenario.faults.is_empty());
        for subject in explored {
            if !shard.file.has_ended(&kept::check_name(subject)) {
                let (path, name) = (&shard.path, &subject.scenario.name);
                return Err(Failure::Usage(format!(
                    "{path}: shard {} has not come to the end of {name}; run it again to go on",
                    shard.shard
                )));
            }
        }
    }
    Ok(())
}
