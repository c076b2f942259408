//! `runkey completions`: what a shell needs to complete the command line.

use super::failure::Failure;
use super::output::OutputArgs;
use crate::exit::Exit;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print the completions of a shell
#[derive(Args)]
#[command(
    after_help = "Example: runkey completions bash > ~/.local/share/bash-completion/completions/runkey"
)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub fn completions(args: &CompletionsArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut super::Cli::command(),
        "runkey",
        &mut script,
    );
    let mut out = output.writer()?;
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Holds)
}
