//! `--certificate FILE`: what a check proves, written to a file.

use super::failure::{Failure, note};
use crate::exit::Exit;
use explore::certificate::{Certificate, Refused};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The certificates that one command issues.
pub struct Certificates {
    /// Where they go, open from the beginning: a folder that does not exist must not be found
    /// after an hour.
    to: Option<(PathBuf, File)>,
    issued: Vec<Certificate>,
    /// Whether a promise was not certified, which has been told.
    refused: bool,
    /// The first scenario that promises nothing.
    passed_over: Option<String>,
}

impl Certificates {
    /// They go to a file, or nobody has asked for any.
    pub fn to(file: Option<&Path>) -> Result<Self, Failure> {
        let open = |path: &Path| match File::create(path) {
            Ok(file) => Ok((path.to_owned(), file)),
            Err(error) => {
                let text = format!("--certificate {}: {error}", path.display());
                Err(Failure::Usage(text))
            }
        };
        Ok(Certificates {
            to: file.map(open).transpose()?,
            issued: Vec::new(),
            refused: false,
            passed_over: None,
        })
    }

    /// True if somebody has asked for certificates.
    pub const fn are_wanted(&self) -> bool {
        self.to.is_some()
    }

    /// Keeps what was issued.
    pub fn add(&mut self, certificate: Certificate) {
        self.issued.push(certificate);
    }

    /// Tells why there is none, and how the check ends for it.
    pub fn refuse(&mut self, name: &str, refused: &Refused) -> Exit {
        let text = format!("{name}: no certificate: {refused}");
        match refused {
            // That is what the scenario says, and others may be certified.
            Refused::NotAPromise(_) | Refused::StatedPlan => {
                self.passed_over.get_or_insert(text);
                Exit::Holds
            }
            _ => {
                note("error", &text);
                self.refused = true;
                match refused.is_unmet() {
                    // The check ends with 100 already.
                    true => Exit::Holds,
                    false => Exit::Inconclusive,
                }
            }
        }
    }

    /// Writes the file; says how the command ends where there was nothing to write.
    pub fn write(self) -> Result<Exit, Failure> {
        let Some((path, mut file)) = self.to else {
            return Ok(Exit::Holds);
        };
        let none = self.issued.is_empty();
        let text = Certificate::write(self.issued);
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all().or_else(unless_no_file))
            .map_err(|error| {
                let path = path.display();
                Failure::Machine(format!("the certificate {path} cannot be written: {error}"))
            })?;
        if none && !self.refused {
            let text = self.passed_over.as_deref();
            note(
                "error",
                text.unwrap_or("no certificate: nothing was checked"),
            );
        }
        Ok(match none {
            true => Exit::Inconclusive,
            false => Exit::Holds,
        })
    }
}

/// A pipe or a terminal cannot be synchronised, and needs not be.
fn unless_no_file(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    }
}
