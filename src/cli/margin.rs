//! `runkey margin`: how large a fault, or how short a setting, changes the verdict?

use super::failure::{Failure, note};
use super::interrupt;
use super::output::OutputArgs;
use super::progress::Progress;
use super::select::{self, Subject};
use super::simulate::{Simulation, Told};
use crate::exit::Exit;
use clap::Args;
use explore::margin::{Asked, Dimension, Margin, MarginError, margin};
use explore::{Control, Cut, Execute, ExecuteError};
use runkey::report::{MarginReport, Report, Verb};
use scenarios::Scenario;
use scenarios::file::Seeds;
use std::sync::Arc;
use std::time::Instant;

/// Find the smallest fault, or the shortest setting, at which the verdict changes
///
/// Asks a grid of values and bisects every change on it to 1 ms. A kind of fault is asked at every
/// place where it applies, one fault at a time; a setting or a condition under what the scenario
/// says goes wrong. Ends with 0 whatever comes of it.
#[derive(Args)]
#[command(
    after_help = "KIND is pause, delay, partition or clock_step, each also with @STEP; skew or \
                  fire_offset, each also with @INSTANCE; or a setting such as guard.lease.\n\
                  Examples: runkey margin finalise-check-off --of pause\n          \
                  runkey margin short-key-retention --of downstream.protection.retention\n          \
                  runkey margin recommended-stack --all --format json"
)]
pub struct MarginArgs {
    /// A name of the catalogue (runkey list) or a file
    scenario: String,
    /// What is varied
    #[arg(
        long,
        value_name = "KIND[@STEP]",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    of: Option<String>,
    /// Everything of which the scenario can have a margin
    #[arg(long)]
    all: bool,
    /// Which message timings, such as 1..16, both ends included
    #[arg(long, value_name = "A..B")]
    seeds: Option<Seeds>,
    /// How many threads [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Leave out how long it took
    #[arg(long)]
    no_timing: bool,
}

pub fn margins(args: &MarginArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let subject = select::scenario(&args.scenario)?;
    output.spares(subject.file.as_deref())?;
    let dimensions = match &args.of {
        Some(of) => Dimension::parse(of, &subject.scenario)
            .map_err(|wrong| Failure::Usage(format!("--of {of}: {wrong}")))?,
        None => Dimension::all(&subject.scenario),
    };
    let control = Arc::new(Control::new());
    interrupt::stops(&control)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.unwrap_or(0).into())
        .build()
        .map_err(|error| Failure::Machine(format!("threads cannot be started: {error}")))?;
    let mut report = output.report(Verb::Margin)?;
    let mut finding = Finding {
        subject: &subject,
        seeds: args.seeds.unwrap_or(subject.scenario.explore.seeds),
        control: &control,
        args,
        report: &mut *report,
        pool: &pool,
    };
    let exit = match finding.all(&dimensions) {
        Err(failure) if failure.is_broken_pipe() => return Ok(Exit::Inconclusive),
        ended => ended?,
    };
    report.finish()?;
    Ok(exit)
}

/// Margins while they are found; each is told at once.
struct Finding<'a> {
    subject: &'a Subject,
    seeds: Seeds,
    control: &'a Arc<Control>,
    args: &'a MarginArgs,
    report: &'a mut dyn Report,
    pool: &'a rayon::ThreadPool,
}

impl Finding<'_> {
    /// Every margin, as far as Ctrl-C lets it.
    fn all(&mut self, dimensions: &[Dimension]) -> Result<Exit, Failure> {
        for (place, dimension) in dimensions.iter().enumerate() {
            match self.one(dimension) {
                Ok(()) => {}
                Err(Ended::Cut(cut)) => {
                    let left = dimensions.len() - place;
                    note("note", &format!("{}: {left} not asked", cut.name()));
                    return Ok(Exit::Inconclusive);
                }
                Err(Ended::Failed(failure)) => return Err(failure),
            }
        }
        Ok(Exit::Holds)
    }

    fn one(&mut self, dimension: &Dimension) -> Result<(), Ended> {
        let scenario = &self.subject.scenario;
        let started = Instant::now();
        let found = {
            let asked = Asked {
                scenario,
                ready: &ready,
                seeds: &self.seeds.iter(),
                control: self.control,
            };
            let _bar = Progress::of(&format!("{}, {dimension}", scenario.name), self.control);
            let found = self.pool.install(|| margin(&asked, dimension));
            found.map_err(|error| self.ended(error))?
        };
        let elapsed = started.elapsed();
        let example = self.example(&found)?;
        let told = self.report.margin(&MarginReport {
            scenario,
            seeds: self.seeds,
            margin: &found,
            example: example
                .as_ref()
                .map(|(value, subject, told)| (*value, told.execution(subject))),
            of_all: self.args.all,
            elapsed: (!self.args.no_timing).then_some(elapsed),
        });
        Ok(told.map_err(Failure::from)?)
    }

    /// Executes the example once more, in order to tell it.
    fn example(&self, margin: &Margin) -> Result<Option<(u64, Subject, Told)>, Ended> {
        let Some((value, answer)) = margin.example() else {
            return Ok(None);
        };
        let Some(example) = &answer.example else {
            return Ok(None);
        };
        let scenario = margin
            .scenario_at(&self.subject.scenario, value, answer)
            .map_err(|error| self.ended(error))?;
        let as_written = scenario.hash() == self.subject.scenario.hash();
        let subject = Subject {
            scenario,
            file: self.subject.file.clone(),
        };
        let told = Simulation::of(&subject)?.tell(example.seed, example.plan.clone())?;
        let told = match as_written {
            true => told,
            false => told.without_token(),
        };
        Ok(Some((value, subject, told)))
    }

    fn ended(&self, error: MarginError) -> Ended {
        let name = self.subject.scenario.name.clone();
        Ended::Failed(match error {
            MarginError::Cut(cut) => return Ended::Cut(cut),
            MarginError::Explore(source) => Failure::Explore { name, source },
            MarginError::Execute(source) => Failure::Execute { name, source },
            MarginError::Setting(error) => Failure::Usage(format!("{name}: {error}")),
        })
    }
}

/// Why a margin was not found.
enum Ended {
    Cut(Cut),
    Failed(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Ended::Failed(failure)
    }
}

fn ready(scenario: &Scenario) -> Result<Box<dyn Execute>, ExecuteError> {
    match sim::Setup::new(scenario, sim::Parts::default()) {
        Ok(setup) => Ok(Box::new(setup)),
        Err(error) => Err(ExecuteError::SetUp(error.to_string())),
    }
}
