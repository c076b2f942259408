//! `runkey run`: one execution.

use super::failure::Failure;
use super::output::OutputArgs;
use super::select;
use super::simulate::Simulation;
use crate::exit::Exit;
use clap::Args;
use runkey::report::Verb;

/// Run a scenario once and tell what happened
///
/// Without faults, or with the [[fault]] that the scenario states.
#[derive(Args)]
#[command(after_help = "Example: runkey run crash-before-ack --seed 3")]
pub struct RunArgs {
    /// A name of the catalogue (runkey list) or a file
    scenario: String,
    /// Decides how long each message is under way
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

pub fn run(args: &RunArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let subject = select::scenario(&args.scenario)?;
    output.spares(subject.file.as_deref())?;
    let simulation = Simulation::of(&subject)?;
    let plan = simulation.stated_plan(args.seed)?;
    let told = simulation.tell(args.seed, plan)?;
    let mut report = output.report(Verb::Run)?;
    report.execution(&told.execution(&subject))?;
    report.finish()?;
    Ok(Exit::Holds)
}
