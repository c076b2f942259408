//! `runkey list`: the catalogue.

use super::failure::Failure;
use super::output::OutputArgs;
use super::select;
use crate::exit::Exit;
use clap::Args;
use runkey::report::{Listing, Verb};

/// List the scenarios of the catalogue
#[derive(Args)]
#[command(after_help = "Example: runkey list --layer delivery --guard none")]
pub struct ListArgs {
    /// Only scenarios whose name contains this
    name: Option<String>,
    /// Only scenarios whose failure is born at this layer
    #[arg(long, value_parser = ["scheduling", "publishing", "delivery", "execution", "effect"])]
    layer: Option<String>,
    /// Only scenarios of this topology
    #[arg(long, value_parser = ["local", "queued"])]
    topology: Option<String>,
    /// Only scenarios with this guard
    #[arg(long, value_parser = [
        "none", "process_mutex", "check_then_insert", "insert_first", "lock_row", "redis_lock",
        "state_machine",
    ])]
    guard: Option<String>,
}

pub fn list(args: &ListArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let mut listing = Vec::new();
    for entry in select::catalogue()? {
        let line = Listing::of(&entry.scenario, entry.path);
        if args.wants(&line) {
            listing.push(line);
        }
    }
    if listing.is_empty() {
        let message = "no scenario of the catalogue is like that; try: runkey list";
        return Err(Failure::NothingMatched(message.to_owned()));
    }
    let mut report = output.report(Verb::List)?;
    report.listing(&listing)?;
    report.finish()?;
    Ok(Exit::Holds)
}

impl ListArgs {
    fn wants(&self, line: &Listing) -> bool {
        let is = |wanted: &Option<String>, has: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == has)
        };
        let named = self.name.as_ref();
        named.is_none_or(|part| line.name.contains(part.as_str()))
            && is(&self.layer, line.layer.as_deref())
            && is(&self.topology, Some(line.topology))
            && is(&self.guard, Some(line.guard))
    }
}
