//! `[expect]`: what is true of the scenario, to be confirmed by a check.

use evidence::{Layer, Verdict};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// `[expect]`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectTable {
    /// What comes of it.
    pub verdict: ExpectedVerdict,
    /// Where the failure is born.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// With how many faults the failure first appears; 0: with none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults_needed: Option<u8>,
    /// Up to how many faults the promise holds; default: the bounds explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u8>,
    /// Effects of the worst slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<u32>,
    /// The faults of the story, each `kind@step`, in order; of a promise, faults that must strike
    /// within the bounds, or there is no certificate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Other failing verdicts that may appear at that number of faults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Verdict>,
}

/// What is expected to come of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpectedVerdict {
    /// `holds`: no execution breaks `[judge] promise`.
    Holds,
    /// This verdict.
    Is(Verdict),
}

impl Default for ExpectedVerdict {
    fn default() -> Self {
        ExpectedVerdict::Is(Verdict::ExactlyOnce)
    }
}

impl ExpectedVerdict {
    /// As written in files and output.
    pub const fn name(self) -> &'static str {
        match self {
            ExpectedVerdict::Holds => "holds",
            ExpectedVerdict::Is(verdict) => verdict.name(),
        }
    }

    /// True if nothing is expected to go wrong.
    pub const fn is_sound(self) -> bool {
        matches!(
            self,
            ExpectedVerdict::Holds | ExpectedVerdict::Is(Verdict::ExactlyOnce)
        )
    }
}

impl fmt::Display for ExpectedVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for ExpectedVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ExpectedVerdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "holds" {
            return Ok(ExpectedVerdict::Holds);
        }
        Verdict::deserialize(de::value::StrDeserializer::<D::Error>::new(&text))
            .map(ExpectedVerdict::Is)
    }
}
