//! The command `runkey`.

mod cli;
mod exit;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main().into()
}
