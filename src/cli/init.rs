//! `runkey init`: a scenario file to begin with.

use super::failure::{Failure, note};
use crate::exit::Exit;
use clap::Args;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Write a scenario file to begin with
#[derive(Args)]
#[command(
    after_help = "Example: runkey init nightly-report.toml && runkey check nightly-report.toml"
)]
pub struct InitArgs {
    /// Where to; an existing file is left alone
    #[arg(default_value = "scenario.toml")]
    path: PathBuf,
}

pub fn init(args: &InitArgs) -> Result<Exit, Failure> {
    let path = args.path.display();
    let refused = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::Usage(format!("{path} exists already; it is left as it is"))
        }
        _ => Failure::Usage(format!("{path} cannot be written: {error}")),
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&args.path)
        .map_err(refused)?;
    file.write_all(scenarios::TEMPLATE.as_bytes())
        .map_err(refused)?;
    note("note", &format!("wrote {path}; try: runkey check {path}"));
    Ok(Exit::Holds)
}
