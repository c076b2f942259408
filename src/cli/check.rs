//! `runkey check`: is what a scenario says true, and if not, by which smallest chain of faults?

use super::beyond::{self, Beyond};
use super::certify::Certificates;
use super::ended::{exit_of, note_end};
use super::failure::{Failure, note};
use super::kept::{About, Kept, Shard};
use super::output::OutputArgs;
use super::progress::Progress;
use super::select::Subject;
use super::simulate::{Reach, Simulation};
use super::survive::{HowFar, Trial};
use super::{bounds, interrupt, output, shard, threads};
use crate::exit::Exit;
use clap::Args;
use explore::certificate::{Claim, Refused};
use explore::{Checked, Control, Walking};
use runkey::report::{CheckReport, Report, Survivors, Verb};
use scenarios::Scenario;
use scenarios::file::Seeds;
use scenarios::spec::{Magnitudes, Space};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Explore what can go wrong and say whether a scenario keeps its promise
///
/// Runs every plan of faults up to a bound, smallest first, under every seed, and stops after the
/// first number of faults with a failure. Shows the smallest plan that breaks the promise, and which
/// changes of the scenario would have stopped it, the cheapest first.
#[derive(Args)]
#[command(after_help = "Examples: runkey check crash-before-ack\n          \
                        runkey check recommended-stack --faults 2 --space full --seeds 1..2\n          \
                        runkey check --all --format json --no-timing")]
pub struct CheckArgs {
    /// Names of the catalogue (runkey list) or files
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(super) scenario: Vec<String>,
    /// Every scenario of the catalogue
    #[arg(long)]
    pub(super) all: bool,
    /// Up to how many faults at once, from 0 to 8 [default: 2 in core and 1 in full]
    #[arg(long, value_name = "K", value_parser = bounds::faults, allow_negative_numbers = true)]
    pub(super) faults: Option<u8>,
    /// Which faults [default: core with --faults]
    #[arg(long, value_parser = space, value_name = "core|full|beyond")]
    pub(super) space: Option<Space>,
    /// Which message timings, such as 1..16, both ends included
    #[arg(long, value_name = "A..B")]
    pub(super) seeds: Option<Seeds>,
    /// Go on after the first number of faults with a failure
    #[arg(long)]
    pub(super) all_plans: bool,
    /// Stop after so much time, such as 10m, with what was found so far; time that is left goes to
    /// random plans of more faults
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(super) budget: Option<Duration>,
    /// Behind the bound run so many random plans of more faults
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) beyond: Option<u64>,
    /// Write what is proved, and what is not, to a file for runkey verify
    #[arg(long, value_name = "FILE")]
    pub(super) certificate: Option<PathBuf>,
    /// Keep what is done in a file, and go on from what it holds
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// Do one of N shares of the work, such as 3/8, for runkey merge
    #[arg(
        long,
        value_name = "I/N",
        requires = "resume",
        conflicts_with = "certificate"
    )]
    pub(super) shard: Option<Shard>,
    /// How many threads [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Run every plan to its end, also where its state is that of a plan already run
    #[arg(long)]
    pub(super) no_merging: bool,
    /// How far changes that would have stopped it are tried: against the plan shown, against every
    /// plan under its seed, or under every seed [default: seed; plan with --all]
    #[arg(
        long,
        value_enum,
        value_name = "off|plan|seed|space",
        hide_possible_values = true
    )]
    pub(super) survivors: Option<HowFar>,
    /// Leave out how long it took
    #[arg(long)]
    pub(super) no_timing: bool,
}

fn space(text: &str) -> Result<Space, String> {
    let all = [Space::Core, Space::Full, Space::Beyond];
    all.into_iter()
        .find(|space| space.name() == text)
        .ok_or_else(|| "allowed are core, full, beyond".to_owned())
}

pub fn check(args: &CheckArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    // All of them are read first: a bad file must not be found after an hour.
    let subjects = args.subjects(&[])?;
    let resumed = args.resume.as_ref().map(|path| path.display().to_string());
    let files = || {
        let files = subjects.iter().map(|subject| subject.file.as_deref());
        files.chain([resumed.as_deref()]).flatten()
    };
    output.spares(files())?;
    if let Some(path) = &args.certificate {
        output::spares("--certificate", path, files())?;
    }
    let (kept, begun) = match &args.resume {
        Some(path) => Kept::in_file(path, args.shard, &About::of(args, args.shard, &subjects))?,
        None => (Kept::Nowhere, Exit::Holds),
    };
    let exit = checked(args, &subjects, &kept, output)?;
    Ok(Exit::of_several(&[begun, exit, kept.close()]))
}

/// Explores, in part or in whole, and tells what comes of it.
pub fn checked(
    args: &CheckArgs,
    subjects: &[Subject],
    kept: &Kept,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    let control = Arc::new(match args.budget {
        Some(budget) => Control::for_at_most(budget),
        None => Control::new(),
    });
    interrupt::stops(&control)?;
    let pool = threads::pool(args.jobs)?;
    if kept.share().is_some() {
        let mut report = output.report(Verb::Shard)?;
        let exit = shard::run(args, subjects, kept, &control, &pool, &mut *report);
        report.finish()?;
        return Ok(exit);
    }
    let mut report = output.report(Verb::Check)?;
    let mut certificates = Certificates::to(args.certificate.as_deref())?;
    let mut checking = Checking {
        args,
        control: &control,
        report: &mut *report,
        pool: &pool,
        kept,
        certificates: &mut certificates,
    };
    let exit = checking.all(subjects);
    report
        .finish()
        .or_else(|error| match Failure::from(error) {
            failure if failure.is_broken_pipe() => Ok(()),
            failure => Err(failure),
        })?;
    Ok(Exit::of_several(&[exit, certificates.write()?]))
}

impl CheckArgs {
    /// The file of the certificates, as it is told.
    fn sealed_in(&self) -> Option<String> {
        let path = self.certificate.as_ref()?;
        Some(path.display().to_string())
    }
}

/// A check of several scenarios while it runs.
struct Checking<'a> {
    args: &'a CheckArgs,
    control: &'a Arc<Control>,
    report: &'a mut dyn Report,
    pool: &'a rayon::ThreadPool,
    kept: &'a Kept,
    certificates: &'a mut Certificates,
}

impl Checking<'_> {
    /// Each result is told at once, unless the check goes beyond its bounds: then all bounds are
    /// explored first, and of a time budget what is left goes beyond them, to each its share.
    fn all(&mut self, subjects: &[Subject]) -> Exit {
        let mut ended = Vec::new();
        let mut done = Vec::new();
        for (place, subject) in subjects.iter().enumerate() {
            let left = subjects.len() - place;
            if let Some(cut) = self.control.cut() {
                note("note", &format!("{}: {left} not checked", cut.name()));
                ended.push(Exit::Inconclusive);
                break;
            }
            let explored = self.one(subject);
            let goes_beyond = self.args.budget.is_some() || self.args.beyond.is_some();
            let goes_on = match (explored, goes_beyond) {
                (Ok(explored), true) => {
                    done.push(explored);
                    true
                }
                (Ok(explored), false) => note_end(self.tell(&explored, None), &mut ended),
                (Err(failure), _) => note_end(Err(failure), &mut ended),
            };
            if !goes_on {
                break;
            }
        }
        let parts = (1..=done.len() as u32).rev();
        for (explored, parts) in done.iter().zip(parts) {
            let beyond = self.beyond(explored, parts);
            let told = beyond.and_then(|beyond| self.tell(explored, beyond.as_ref()));
            if !note_end(told, &mut ended) {
                break;
            }
        }
        Exit::of_several(&ended)
    }

    fn one<'s>(&mut self, subject: &'s Subject) -> Result<Explored<'s>, Failure> {
        if subject.file.is_some() {
            note_ties(&subject.scenario);
        }
        let simulation = Simulation::of(subject)?;
        let started = Instant::now();
        let checked = {
            let (args, control, kept) = (self.args, self.control, self.kept);
            let _bar = Progress::of(&subject.scenario.name, control);
            self.pool
                .install(|| explore(args, control, kept, subject, &simulation))?
        };
        let elapsed = started.elapsed();
        Ok(Explored {
            subject,
            survivors: self.survivors(subject, &checked)?,
            simulation,
            checked,
            elapsed,
        })
    }

    /// Uses one of so many parts of the time that is left.
    fn beyond(&self, explored: &Explored<'_>, parts: u32) -> Result<Option<Beyond>, Failure> {
        let scenario = &explored.subject.scenario;
        let control = Arc::new(self.control.part(parts));
        let last = self.args.beyond.map_or(u64::MAX, |plans| plans - 1);
        let _bar = Progress::of(&scenario.name, &control);
        let depths = bounds::of(scenario, self.args.space, self.args.faults);
        let seeds = self.args.seeds.unwrap_or(scenario.explore.seeds);
        let Explored {
            simulation,
            checked,
            ..
        } = explored;
        self.pool
            .install(|| beyond::beyond(simulation, checked, &depths, seeds, 0..=last, &control))
    }

    fn tell(&mut self, explored: &Explored<'_>, beyond: Option<&Beyond>) -> Result<Exit, Failure> {
        let Explored {
            subject,
            simulation,
            checked,
            survivors,
            elapsed,
        } = explored;
        let example = checked
            .counterexample
            .as_ref()
            .map(|example| simulation.tell(example.seed, example.plan.clone()))
            .transpose()?;
        let claim = Claim::of(&subject.scenario, checked);
        let sealed = self.seal(subject, simulation, &claim)?;
        self.report.check(&CheckReport {
            scenario: &subject.scenario,
            checked,
            example: example.as_ref().map(|told| told.execution(subject)),
            claim: claim.as_ref().ok(),
            sealed_in: self.args.sealed_in().as_deref(),
            survivors: survivors.as_ref(),
            beyond: beyond.map(|beyond| beyond.report(subject)),
            elapsed: (!self.args.no_timing).then_some(*elapsed),
        })?;
        for verdict in &checked.also_never_seen {
            let name = &subject.scenario.name;
            note(
                "note",
                &format!("{name}: `also` names {verdict}, which no plan gave"),
            );
        }
        Ok(Exit::of_several(&[exit_of(&checked.met), sealed]))
    }

    /// Certifies what is proved, where that is asked for.
    fn seal(
        &mut self,
        subject: &Subject,
        simulation: &Simulation,
        claim: &Result<Claim, Refused>,
    ) -> Result<Exit, Failure> {
        if !self.certificates.are_wanted() {
            return Ok(Exit::Holds);
        }
        match claim {
            Ok(claim) => {
                let certificate = self.pool.install(|| simulation.certify(claim.clone()))?;
                self.certificates.add(certificate);
                Ok(Exit::Holds)
            }
            Err(refused) => Ok(self.certificates.refuse(&subject.scenario.name, refused)),
        }
    }

    /// What would have stopped the counterexample.
    fn survivors(
        &self,
        subject: &Subject,
        checked: &Checked,
    ) -> Result<Option<Survivors>, Failure> {
        let Some(example) = &checked.counterexample else {
            return Ok(None);
        };
        let scenario = &subject.scenario;
        let trial = Trial {
            how_far: self.args.how_far(),
            depths: &bounds::of(scenario, self.args.space, self.args.faults),
            seeds: self.args.seeds.unwrap_or(scenario.explore.seeds),
            control: self.control,
        };
        let _bar = Progress::of(&format!("{}, changed", scenario.name), self.control);
        (self.pool.install(|| trial.survivors(scenario, example))).map_err(|source| {
            Failure::Explore {
                name: scenario.name.clone(),
                source,
            }
        })
    }
}

impl CheckArgs {
    /// Against one plan a change is tried in no time; against every plan it may take seconds, which
    /// is too long for each scenario of a whole catalogue.
    fn how_far(&self) -> HowFar {
        let default = match self.all {
            true => HowFar::Plan,
            false => HowFar::Seed,
        };
        self.survivors.unwrap_or(default)
    }
}

/// A scenario whose bound was explored.
struct Explored<'s> {
    subject: &'s Subject,
    simulation: Simulation,
    checked: Checked,
    survivors: Option<Survivors>,
    elapsed: Duration,
}

/// Which of two deadlines that end together comes first is an accident, and so is what follows.
fn note_ties(scenario: &Scenario) {
    for [one, other] in Magnitudes::of(scenario).ties() {
        let text = format!(
            "{}: {} and {} are both {}: which ends first is left to chance",
            scenario.name, one.name, other.name, one.span
        );
        note("note", &text);
    }
}

/// Explores one scenario, on the threads of the current pool.
pub fn explore(
    args: &CheckArgs,
    control: &Control,
    kept: &Kept,
    subject: &Subject,
    simulation: &Simulation,
) -> Result<Checked, Failure> {
    let scenario = &subject.scenario;
    let seeds = args.seeds.unwrap_or(scenario.explore.seeds);
    if !scenario.faults.is_empty() {
        if args.faults.is_some() || args.space.is_some() {
            let name = &scenario.name;
            note(
                "note",
                &format!("{name} states its plan: --faults and --space are for others"),
            );
        }
        return simulation.check_plan(&seeds.iter(), control);
    }
    let journal = kept.journal_of(subject);
    simulation.check(&Reach {
        seeds,
        depths: &bounds::of(scenario, args.space, args.faults),
        all_plans: args.all_plans,
        walking: Walking {
            merge: !args.no_merging,
            share: kept.share(),
            journal: journal.as_deref(),
        },
        control,
    })
}
