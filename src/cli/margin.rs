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
use explore::{Control, Execute, ExecuteError};
use runkey::report::{MarginFound, MarginReport, Verb};
use scenarios::Scenario;
use scenarios::file::Seeds;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    let finding = Finding {
        subject: &subject,
        seeds: args.seeds.unwrap_or(subject.scenario.explore.seeds),
        control: &control,
        timing: !args.no_timing,
    };
    let (found, exit) = pool.install(|| finding.all(&dimensions))?;
    let margins: Vec<MarginFound<'_>> = found.iter().map(Found::told).collect();
    report.margin(&MarginReport {
        scenario: &subject.scenario,
        seeds: finding.seeds,
        margins: &margins,
        all: args.all,
    })?;
    report.finish()?;
    Ok(exit)
}

/// Margins while they are found.
struct Finding<'a> {
    subject: &'a Subject,
    seeds: Seeds,
    control: &'a Arc<Control>,
    timing: bool,
}

/// A margin, and the execution that shows it.
struct Found {
    margin: Margin,
    example: Option<(u64, Subject, Told)>,
    elapsed: Option<Duration>,
}

impl Found {
    fn told(&self) -> MarginFound<'_> {
        let example = self.example.as_ref();
        MarginFound {
            margin: &self.margin,
            example: example.map(|(value, subject, told)| (*value, told.execution(subject))),
            elapsed: self.elapsed,
        }
    }
}

impl Finding<'_> {
    /// Every margin, as far as Ctrl-C lets it.
    fn all(&self, dimensions: &[Dimension]) -> Result<(Vec<Found>, Exit), Failure> {
        let name = &self.subject.scenario.name;
        let mut found = Vec::new();
        for (place, dimension) in dimensions.iter().enumerate() {
            let _bar = Progress::of(&format!("{name}, {dimension}"), self.control);
            match self.one(dimension) {
                Ok(margin) => found.push(margin),
                Err(MarginFailure::Cut(why)) => {
                    let left = dimensions.len() - place;
                    note("note", &format!("{why}: {left} not asked"));
                    return Ok((found, Exit::Inconclusive));
                }
                Err(MarginFailure::Other(failure)) => return Err(failure),
            }
        }
        Ok((found, Exit::Holds))
    }

    fn one(&self, dimension: &Dimension) -> Result<Found, MarginFailure> {
        let started = Instant::now();
        let asked = Asked {
            scenario: &self.subject.scenario,
            ready: &ready,
            seeds: &self.seeds.iter(),
            control: self.control,
        };
        let found = margin(&asked, dimension).map_err(|error| self.failure(error))?;
        let elapsed = self.timing.then(|| started.elapsed());
        Ok(Found {
            example: self.example(&found)?,
            margin: found,
            elapsed,
        })
    }

    /// Executes the example once more, in order to tell it.
    fn example(&self, margin: &Margin) -> Result<Option<(u64, Subject, Told)>, MarginFailure> {
        let Some((value, answer)) = margin.example() else {
            return Ok(None);
        };
        let Some(example) = &answer.example else {
            return Ok(None);
        };
        let scenario = margin
            .scenario_at(&self.subject.scenario, value, answer)
            .map_err(|error| self.failure(error))?;
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

    fn failure(&self, error: MarginError) -> MarginFailure {
        let name = self.subject.scenario.name.clone();
        MarginFailure::Other(match error {
            MarginError::Cut(cut) => return MarginFailure::Cut(cut.name()),
            MarginError::Explore(source) => Failure::Explore { name, source },
            MarginError::Execute(source) => Failure::Execute { name, source },
            MarginError::Setting(error) => Failure::Usage(format!("{name}: {error}")),
        })
    }
}

enum MarginFailure {
    Cut(&'static str),
    Other(Failure),
}

impl From<Failure> for MarginFailure {
    fn from(failure: Failure) -> Self {
        MarginFailure::Other(failure)
    }
}

fn ready(scenario: &Scenario) -> Result<Box<dyn Execute>, ExecuteError> {
    match sim::Setup::new(scenario, sim::Parts::default()) {
        Ok(setup) => Ok(Box::new(setup)),
        Err(error) => Err(ExecuteError::SetUp(error.to_string())),
    }
}
