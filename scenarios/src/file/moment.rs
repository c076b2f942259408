//! Moments in scenario files: `2026-01-01T00:00:00Z`.

use evidence::Timestamp;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serializer};

/// Writes the moment as text.
pub fn serialize<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}

/// Reads the moment from text.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse::<Timestamp>().map_err(|_| {
        de::Error::custom(format!(
            "`{text}` is not a time; allowed is UTC such as \"2026-01-01T00:00:00Z\""
        ))
    })
}
