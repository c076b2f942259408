//! The command line: what may be typed, and what becomes of it.
//!
//! Each verb is one file. A verb reads its arguments, does its work through the libraries, hands
//! results to a [`Report`](runkey::report::Report) and says how the command ends.

mod asked;
mod beyond;
mod bounds;
mod certify;
mod check;
mod completions;
mod ended;
mod failure;
mod init;
mod interrupt;
mod kept;
mod list;
mod margin;
mod matrix;
mod merge;
mod output;
mod panics;
mod progress;
mod replay;
mod run;
mod select;
mod shard;
mod simulate;
mod survive;
mod threads;
mod verify;

use crate::exit::Exit;
use clap::{Parser, Subcommand};
use failure::Failure;
use output::OutputArgs;

/// Can this scheduled job run twice, or never, and by which smallest chain of faults?
#[derive(Parser)]
#[command(
    name = "runkey",
    version,
    after_help = "Try it: runkey check crash-before-ack\nExit codes: 0 the expectation holds, 100 it \
                  does not, 103 not known, 102 not reproducible, 101 set-up failed, 4 nothing \
                  matched, 2 usage, 1 anything else."
)]
struct Cli {
    #[command(flatten)]
    output: OutputArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    List(list::ListArgs),
    Run(run::RunArgs),
    Check(check::CheckArgs),
    Margin(margin::MarginArgs),
    Matrix(matrix::MatrixArgs),
    Replay(replay::ReplayArgs),
    Merge(merge::MergeArgs),
    Verify(verify::VerifyArgs),
    Init(init::InitArgs),
    Completions(completions::CompletionsArgs),
}

/// The arguments of `check` once more, as a journal has kept them.
fn check_again(arguments: &[String]) -> Option<check::CheckArgs> {
    let words = ["runkey", "check"].map(str::to_owned).into_iter();
    match Cli::try_parse_from(words.chain(arguments.iter().cloned())) {
        Ok(Cli {
            verb: Verb::Check(args),
            ..
        }) => Some(args),
        _ => None,
    }
}

/// Runs the command and says how it ends.
pub fn main() -> Exit {
    panics::quiet();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    let done = match panics::caught(|| perform(&cli)) {
        Ok(done) => done,
        Err(panic) => Err(Failure::Panic(panic)),
    };
    done.unwrap_or_else(|failure| failure.tell())
}

fn perform(cli: &Cli) -> Result<Exit, Failure> {
    let output = &cli.output;
    match &cli.verb {
        Verb::List(args) => list::list(args, output),
        Verb::Run(args) => run::run(args, output),
        Verb::Check(args) => check::check(args, output),
        Verb::Margin(args) => margin::margins(args, output),
        Verb::Matrix(args) => matrix::matrix(args, output),
        Verb::Replay(args) => replay::replay(args, output),
        Verb::Merge(args) => merge::merge(args, output),
        Verb::Verify(args) => verify::verify(args, output),
        Verb::Init(args) => init::init(args),
        Verb::Completions(args) => completions::completions(args, output),
    }
}

/// `--help`, `--version`, or arguments that make no sense.
fn refused(error: &clap::Error) -> Exit {
    // Whoever asked has gone away: nobody is left to tell.
    let _ = error.print();
    match error.use_stderr() {
        true => Exit::Usage,
        false => Exit::Holds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_does_not_contradict_itself() {
        Cli::command().debug_assert();
    }
}
