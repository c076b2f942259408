//! The bounded spaces of faults, by name and version.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which faults an exploration looks at.
///
/// A space that grows gets a new version, which certificates name.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// A subset for greater depth: lost requests and replies, duplicated requests, crashes in
    /// their three places, pauses just past the longest deadline, broker restarts.
    #[default]
    Core,
    /// Every kind wherever it applies, inside the envelope of the recommended stack.
    Full,
    /// The whole table: also failovers that lose what was committed, and the purge of a memory.
    Beyond,
}

impl Space {
    /// As written in scenario files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Core => "core",
            Space::Full => "full",
            Space::Beyond => "beyond",
        }
    }

    /// Name and version, as certificates and output have it.
    pub const fn versioned(self) -> &'static str {
        match self {
            Space::Core => "core/1",
            Space::Full => "full/1",
            Space::Beyond => "beyond/2",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.versioned())
    }
}
