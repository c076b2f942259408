//! The catalogue: scenarios that come with runkey, each with the verdict that is true of it.
//!
//! They are the files `catalogue/<layer>/<name>.toml` of this crate, embedded. The folder is the
//! layer at which the duplicate or the loss is born; `sound` holds those in which there is none.

use crate::{Scenario, ScenarioError};
use include_dir::{Dir, include_dir};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/catalogue");

/// A file of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The folder: a layer, or `sound`.
    pub layer: &'static str,
    /// The scenario's name, which is the file's without `.toml`.
    pub name: &'static str,
    /// The path inside the catalogue, such as `delivery/crash-before-ack.toml`.
    pub path: &'static str,
    /// The file's text.
    pub text: &'static str,
}

impl Entry {
    /// Reads the scenario.
    ///
    /// # Errors
    ///
    /// As [`Scenario::parse`]; a test sees to it that no file of the catalogue has any.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        Scenario::parse(self.text, &format!("catalogue/{}", self.path))
    }
}

/// Every entry, by layer, then name.
pub fn all() -> Vec<Entry> {
    let mut entries: Vec<Entry> = FILES
        .dirs()
        .flat_map(Dir::files)
        .filter_map(|file| {
            let path = file.path();
            let layer = path.parent()?.to_str()?;
            (path.extension()? == "toml").then_some(Entry {
                layer,
                name: path.file_stem()?.to_str()?,
                path: path.to_str()?,
                text: file.contents_utf8()?,
            })
        })
        .collect();
    entries.sort_unstable();
    entries
}

/// The entry with this name.
pub fn find(name: &str) -> Option<Entry> {
    all().into_iter().find(|entry| entry.name == name)
}

/// The entry, and the scenario in it, whose [`Scenario::hash32`] a token carries: its own, or that
/// of one of its repairs.
pub fn find_by_hash(hash: u32) -> Option<(Entry, Scenario)> {
    all().into_iter().find_map(|entry| {
        let mut scenario = entry.scenario().ok()?;
        if scenario.hash32() == hash {
            return Some((entry, scenario));
        }
        let mut repairs = std::mem::take(&mut scenario.repairs).into_iter();
        let repair = repairs.find(|repair| repair.scenario.hash32() == hash)?;
        Some((entry, *repair.scenario))
    })
}
