//! Where results go, and in which form.

use super::failure::Failure;
use anstream::AutoStream;
use clap::{Args, ValueEnum};
use runkey::report::{Human, Json, Jsonl, Markdown, Report, Verb};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where results go, and in which form.
#[derive(Args)]
pub struct OutputArgs {
    /// Form of the results
    #[arg(long, global = true, display_order = 100, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Write the results to a file instead of stdout
    #[arg(long, global = true, display_order = 100, value_name = "FILE")]
    output: Option<PathBuf>,
    /// When to use colours (NO_COLOR is honoured)
    #[arg(long, global = true, display_order = 100, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

/// Form of the results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// A page with tables; matrix only.
    Markdown,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl OutputArgs {
    /// Refuses to write the results over what they are made of.
    ///
    /// # Errors
    /// If the file for the results is one of `inputs`, by whatever path.
    pub fn spares<'a>(&self, inputs: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
        match &self.output {
            Some(path) => spares("--output", path, inputs),
            None => Ok(()),
        }
    }

    /// What renders the results of a verb.
    ///
    /// # Errors
    /// If the file cannot be created; if the verb has no such form.
    pub fn report(&self, verb: Verb) -> Result<Box<dyn Report>, Failure> {
        if self.format == Format::Markdown && verb != Verb::Matrix {
            let verb = verb.name();
            return Err(Failure::Usage(format!(
                "--format markdown: only matrix has it; allowed for {verb} are human, json, jsonl"
            )));
        }
        let out = self.writer()?;
        Ok(match self.format {
            Format::Human => Box::new(Human::new(out, verb)),
            Format::Json => Box::new(Json::new(out, verb)),
            Format::Jsonl => Box::new(Jsonl::new(out)),
            Format::Markdown => Box::new(Markdown::new(out)),
        })
    }

    /// The writer that strips colours where they are not wanted.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn writer(&self) -> Result<Box<dyn Write>, Failure> {
        let Some(path) = &self.output else {
            let stdout = AutoStream::new(std::io::stdout(), self.color.choice());
            return Ok(Box::new(BufWriter::new(stdout)));
        };
        let file = File::create(path)
            .map_err(|error| Failure::Usage(format!("--output {}: {error}", path.display())))?;
        let file = AutoStream::new(file, self.color.choice());
        Ok(Box::new(BufWriter::new(file)))
    }
}

/// Refuses to write over one of `inputs`, by whatever path.
///
/// # Errors
/// If `path`, which `option` names, is one of them.
pub fn spares<'a>(
    option: &str,
    path: &Path,
    inputs: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    // Without a file there is nothing to overwrite.
    let Ok(written) = path.canonicalize() else {
        return Ok(());
    };
    let is_written = |input: &str| {
        Path::new(input)
            .canonicalize()
            .is_ok_and(|it| it == written)
    };
    match inputs.into_iter().find(|input| is_written(input)) {
        Some(input) => Err(Failure::Usage(format!(
            "{option} {}: that is the input {input}; it is left as it is",
            path.display()
        ))),
        None => Ok(()),
    }
}

impl Color {
    const fn choice(self) -> anstream::ColorChoice {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}
