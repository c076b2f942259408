//! `check --shard i/n`: a share of the work, whose results are in a file and nowhere else.

use super::check::{CheckArgs, explore};
use super::failure::{Failure, note};
use super::kept::Kept;
use super::progress::Progress;
use super::select::Subject;
use super::simulate::Simulation;
use crate::exit::Exit;
use explore::Control;
use rayon::ThreadPool;
use runkey::report::{Report, ShardReport};
use std::sync::Arc;

/// Does the share of each scenario; says how the command ends. Whether expectations are met is for
/// the merge to say.
pub fn run(
    args: &CheckArgs,
    subjects: &[Subject],
    kept: &Kept,
    control: &Arc<Control>,
    pool: &ThreadPool,
    report: &mut dyn Report,
) -> Exit {
    let mut ended = Vec::new();
    // A plan that is stated is no work to share.
    let explored = subjects
        .iter()
        .filter(|subject| subject.scenario.faults.is_empty());
    for subject in explored {
        if let Some(cut) = control.cut() {
            let name = &subject.scenario.name;
            note(
                "note",
                &format!("{}: {name} and what follows is not explored", cut.name()),
            );
            ended.push(Exit::Inconclusive);
            break;
        }
        let done = one(args, subject, kept, control, pool, report);
        ended.push(done.unwrap_or_else(|failure| failure.tell()));
    }
    Exit::of_several(&ended)
}

fn one(
    args: &CheckArgs,
    subject: &Subject,
    kept: &Kept,
    control: &Arc<Control>,
    pool: &ThreadPool,
    report: &mut dyn Report,
) -> Result<Exit, Failure> {
    let simulation = Simulation::of(subject)?;
    let checked = {
        let _bar = Progress::of(&subject.scenario.name, control);
        pool.install(|| explore(args, control, kept, subject, &simulation))?
    };
    let cut = checked.levels.iter().find_map(|level| level.cut);
    if cut.is_none() {
        kept.end(subject);
    }
    let (shard, file) = kept.named();
    report.shard(&ShardReport {
        scenario: &subject.scenario.name,
        shard: &shard,
        file: &file,
        plans: checked.explored.plans,
        cut: cut.map(|cut| cut.name()),
    })?;
    Ok(match cut {
        None => Exit::Holds,
        Some(_) => Exit::Inconclusive,
    })
}
