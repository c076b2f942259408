//! `[explore]`: how far a check looks.

use crate::spec::Space;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The deepest bound: more faults at once are beyond what can be exhausted, and random plans go
/// there.
pub const MOST_EXPLORED: u8 = 8;

/// `[explore]`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExploreTable {
    /// Which faults; without it core to 2 and full to 1, both (or, beside `faults`, core).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
    /// Up to how many of them at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u8>,
    /// With which message timings.
    pub seeds: Seeds,
}

/// A range of seeds, both ends included, written `1..16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seeds {
    /// The first seed.
    pub first: u64,
    /// The last seed, not before the first.
    pub last: u64,
}

impl Seeds {
    /// The most seeds that a range may hold.
    pub const MOST: u64 = 1_000_000;

    /// Every seed, in order.
    pub const fn iter(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }
}

/// `1..16`.
impl Default for Seeds {
    fn default() -> Self {
        Seeds { first: 1, last: 16 }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.first, self.last)
    }
}

/// A text that is no range of seeds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a range of seeds; allowed is such as \"1..16\", both ends included, at most 1000000 seeds"
)]
pub struct SeedsError {
    text: String,
}

/// Reads `1..16`, or a single seed `7`.
impl FromStr for Seeds {
    type Err = SeedsError;

    fn from_str(text: &str) -> Result<Self, SeedsError> {
        let refused = || SeedsError {
            text: text.to_owned(),
        };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let seed = |digits: &str| digits.trim().parse::<u64>().map_err(|_| refused());
        let (first, last) = (seed(first)?, seed(last)?);
        match last.checked_sub(first) {
            Some(more) if more < Seeds::MOST => Ok(Seeds { first, last }),
            _ => Err(refused()),
        }
    }
}

impl Serialize for Seeds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_range_are_included() {
        let seeds: Seeds = "3..5".parse().unwrap_or_default();
        assert_eq!(seeds.iter().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!("7".parse(), Ok(Seeds { first: 7, last: 7 }));
    }

    #[test]
    fn a_range_that_runs_backwards_or_never_ends_is_refused() {
        for text in [
            "",
            "5..3",
            "1..",
            "..",
            "-1..4",
            "0..1000000",
            "1...4",
            "a..b",
        ] {
            assert!(text.parse::<Seeds>().is_err(), "{text}");
        }
        assert!("0..999999".parse::<Seeds>().is_ok());
    }
}
