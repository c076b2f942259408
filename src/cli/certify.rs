//! `--certificate FILE`: what a check proves, written to a file.

use super::failure::{Failure, note};
use crate::exit::Exit;
use explore::certificate::{Certificate, Refused};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The certificates that one command issues.
pub struct Certificates {
    /// Where they go, found to be writable at the beginning: a folder that does not exist must not
    /// be found after an hour. What stands there stays until there is something to put in its place.
    to: Option<PathBuf>,
    issued: Vec<Certificate>,
    /// Whether a promise was not certified, which has been told.
    refused: bool,
    /// The first scenario that promises nothing.
    passed_over: Option<String>,
}

impl Certificates {
    /// They go to a file, or nobody has asked for any.
    pub fn to(file: Option<&Path>) -> Result<Self, Failure> {
        let open = |path: &Path| match OpenOptions::new().append(true).create(true).open(path) {
            Ok(_) => Ok(path.to_owned()),
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
        let Some(path) = self.to else {
            return Ok(Exit::Holds);
        };
        let none = self.issued.is_empty();
        // Nothing is no reason to lose what an earlier check has proved.
        let stays = none && std::fs::metadata(&path).is_ok_and(|there| there.len() > 0);
        if !stays {
            let text = Certificate::write(self.issued);
            write(&path, text.as_bytes()).map_err(|error| {
                let path = path.display();
                Failure::Machine(format!("the certificate {path} cannot be written: {error}"))
            })?;
        }
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

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all().or_else(unless_no_file)
}

/// A pipe or a terminal cannot be synchronised, and needs not be.
fn unless_no_file(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    }
}
