//! Why a command did not do what it was asked: one sentence on stderr, and the exit code.

use super::panics::{self, Panic};
use crate::exit::Exit;
use explore::certificate::{Mismatch, Refused};
use explore::journal::JournalError;
use explore::{Doubt, ExecuteError, ExploreError};
use scenarios::ScenarioError;
use scenarios::file::Place;
use std::io::{self, Write};
use std::path::Path;
use unicode_width::UnicodeWidthChar;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Arguments that make no sense together, an unknown scenario, a bad token.
    #[error("{0}")]
    Usage(String),
    /// A file that cannot be used.
    #[error("{0}")]
    File(#[from] ScenarioError),
    /// A filter that matches nothing.
    #[error("{0}")]
    NothingMatched(String),
    /// An execution that could not be done or does not repeat.
    #[error("{name}: {source}")]
    Explore {
        /// The scenario.
        name: String,
        /// What went wrong.
        source: ExploreError,
    },
    /// One execution that could not be done.
    #[error("{name}: {source}")]
    Execute {
        /// The scenario.
        name: String,
        /// What went wrong.
        source: ExecuteError,
    },
    /// A certificate that is not true any more, or cannot be verified.
    #[error("{file}: {source}")]
    Certificate {
        /// Its file.
        file: String,
        /// What is wrong.
        source: Box<Mismatch>,
    },
    /// Output that could not be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
    /// Something of the machine that runkey needs and does not get.
    #[error("{0}")]
    Machine(String),
    /// A defect of runkey.
    #[error("{0}")]
    Panic(Panic),
}

impl Failure {
    /// A journal that cannot be used.
    pub fn journal(path: &Path, error: &JournalError) -> Self {
        let text = format!("{}: {error}", path.display());
        match error {
            JournalError::Unwritable(_) => Failure::Machine(text),
            _ => Failure::Usage(text),
        }
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) | Failure::File(_) => Exit::Usage,
            Failure::NothingMatched(_) => Exit::NothingMatched,
            Failure::Certificate { source, .. } => of_mismatch(source),
            Failure::Explore { source, .. } if source.is_irreproducible() => Exit::Irreproducible,
            Failure::Explore { source, .. } if source.is_set_up() => Exit::SetUp,
            Failure::Execute { source, .. } if source.is_stale_plan() => Exit::Irreproducible,
            Failure::Execute {
                source: ExecuteError::SetUp(_),
                ..
            } => Exit::SetUp,
            // Whoever read our output has seen enough; that is no failure.
            Failure::Output(error) if is_gone(error) => Exit::Holds,
            Failure::Explore { .. }
            | Failure::Execute { .. }
            | Failure::Output(_)
            | Failure::Machine(_)
            | Failure::Panic(_) => Exit::Unexpected,
        }
    }

    /// True if the reader of the output has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if is_gone(error))
    }

    /// Tells it on stderr, in one sentence; for a file with the line that is wrong.
    pub fn tell(&self) -> Exit {
        if !self.is_broken_pipe() {
            note("error", &self.to_string());
            match self {
                Failure::File(error) => show_line(error),
                Failure::Explore { .. } | Failure::Execute { .. } => show_panic(),
                _ => {}
            }
        }
        self.exit()
    }
}

fn of_mismatch(mismatch: &Mismatch) -> Exit {
    match mismatch {
        Mismatch::Unusable(_) => Exit::Usage,
        Mismatch::Refused(Refused::Doubt(Doubt::Cut(_))) => Exit::Inconclusive,
        Mismatch::Explore(source) | Mismatch::Sample { source, .. } if source.is_set_up() => {
            Exit::SetUp
        }
        Mismatch::Explore(source) | Mismatch::Sample { source, .. }
            if !source.is_irreproducible() =>
        {
            Exit::Unexpected
        }
        _ => Exit::Irreproducible,
    }
}

/// A line on stderr; nobody to read it is no reason to fail.
pub fn note(kind: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{kind}: {text}");
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// What an execution threw that could not be finished.
fn show_panic() {
    if let Some(panic) = panics::last() {
        note("note", &panic.to_string());
    }
}

fn show_line(error: &ScenarioError) {
    if let Some(excerpt) = excerpt(error) {
        let _ = anstream::stderr().write_all(excerpt.as_bytes());
    }
}

/// The line that an error is about, with carets under what is wrong.
fn excerpt(error: &ScenarioError) -> Option<String> {
    let (place, span) = (error.place()?, error.span()?);
    let text = std::fs::read_to_string(error.file()).ok()?;
    let line = text.lines().nth(place.line.checked_sub(1)?)?;
    Some(draw(place, line, span.len()))
}

/// Terminals show this much of a line; longer ones are cut.
const WIDEST: usize = 100;

fn draw(at: Place, line: &str, length: usize) -> String {
    let lead = at.column.saturating_sub(1);
    let shown: String = line.chars().take(WIDEST).collect();
    let before: String = shown
        .chars()
        .take(lead)
        .map(|letter| match letter {
            '\t' => "\t".to_owned(),
            _ => " ".repeat(letter.width().unwrap_or(1)),
        })
        .collect();
    let room = shown.chars().count().saturating_sub(lead);
    let carets = "^".repeat(length.clamp(1, room.max(1)));
    let margin = at.line.to_string();
    let blank = " ".repeat(margin.len());
    format!("{blank} |\n{margin} | {shown}\n{blank} | {before}{carets}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_stand_under_what_is_wrong() {
        let place = Place {
            line: 12,
            column: 8,
        };
        assert_eq!(
            draw(place, "ttl =  \"20\"", 4),
            "   |\n12 | ttl =  \"20\"\n   |        ^^^^\n"
        );
    }

    #[test]
    fn wide_letters_and_tabs_before_it_are_passed_over() {
        let place = Place { line: 1, column: 4 };
        assert_eq!(
            draw(place, "\t\u{540d}=x", 9),
            "  |\n1 | \t\u{540d}=x\n  | \t   ^\n"
        );
    }

    #[test]
    fn an_endless_line_is_cut() {
        let drawn = draw(
            Place { line: 1, column: 1 },
            &"x".repeat(1_000_000),
            1_000_000,
        );
        assert!(drawn.len() < 300);
    }
}
