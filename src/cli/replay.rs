//! `runkey replay`: an execution once more, event by event.

use super::failure::Failure;
use super::output::OutputArgs;
use super::select::{self, Subject};
use super::simulate::Simulation;
use crate::exit::Exit;
use clap::Args;
use runkey::report::Verb;
use scenarios::spec::Plan;
use scenarios::{PlanFile, Token};
use std::path::Path;

/// Replay an execution, event by event
#[derive(Args)]
#[command(
    after_help = "Examples: runkey replay rk1-...\n          runkey replay rk1-... my-scenario.toml\n          \
                        runkey replay plan.toml"
)]
pub struct ReplayArgs {
    /// A token that a check or a run has printed, or a file with a plan
    #[arg(value_name = "TOKEN-or-PLAN-FILE")]
    what: String,
    /// The scenario, where it is not in the catalogue
    scenario: Option<String>,
}

pub fn replay(args: &ReplayArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let (subject, seed, plan) = match is_plan_file(&args.what) {
        true => from_file(args)?,
        false => from_token(args)?,
    };
    output.spares(
        subject
            .file
            .as_deref()
            .into_iter()
            .chain([args.what.as_str()]),
    )?;
    let simulation = Simulation::of(&subject)?;
    let told = simulation.tell(seed, plan)?;
    let mut report = output.report(Verb::Replay)?;
    report.execution(&told.execution(&subject))?;
    report.finish()?;
    Ok(Exit::Holds)
}

fn is_plan_file(what: &str) -> bool {
    what.ends_with(".toml") || Path::new(what).exists()
}

fn from_token(args: &ReplayArgs) -> Result<(Subject, u64, Plan), Failure> {
    let token = Token::decode(&args.what)
        .map_err(|error| Failure::Usage(format!("`{}`: {error}", shortened(&args.what))))?;
    if let Some(test) = &token.test {
        // `name#2` is the second check of the test `name`.
        let test = test.split('#').next().unwrap_or_default();
        return Err(Failure::Usage(format!(
            "the token is of the test `{test}`, which brings parts of its own; replay it with \
             RUNKEY_REPLAY={} cargo test {test}",
            args.what.trim()
        )));
    }
    let subject = select::scenario_of(&token, args.scenario.as_deref())?;
    Ok((subject, token.seed, token.plan))
}

fn from_file(args: &ReplayArgs) -> Result<(Subject, u64, Plan), Failure> {
    let file = PlanFile::load(&args.what)?;
    if let Some(test) = &file.test {
        return Err(Failure::Usage(format!(
            "{}: the plan is of the test `{test}`, which brings parts of its own; replay it there",
            args.what
        )));
    }
    let subject = match &args.scenario {
        Some(named) => select::scenario(named)?,
        None => beside(&args.what, &file.scenario)?,
    };
    let plan = file.plan(&subject.scenario, &args.what)?;
    Ok((subject, file.seed, plan))
}

/// A plan file names its scenario from where it stands.
fn beside(plan_file: &str, scenario: &str) -> Result<Subject, Failure> {
    let folder = Path::new(plan_file).parent();
    let path = folder.map(|folder| folder.join(scenario));
    match path {
        Some(path) if path.is_file() => select::scenario(&path.display().to_string()),
        _ => select::scenario(scenario),
    }
}

/// What was typed, as far as a message should repeat it.
fn shortened(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
