//! What the judge is asked: the `[judge]` table of a scenario.

use crate::Promise;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::time::Duration;

/// The `[judge]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Judging {
    /// Which verdicts are failures.
    pub promise: Promise,
    /// What a slot is that a declared policy dropped.
    pub skipped: SkippedAs,
    /// Whether giving a run up, on record, breaks the promise.
    pub gave_up: GaveUpAs,
    /// How far from its scheduled time an effect may happen, in milliseconds (written `"30s"`);
    /// `None`: at any time.
    #[serde(with = "duration", skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<u64>,
    /// Whether two attempts of one run, or of one timer, at once are a failure.
    pub overlap: bool,
    /// Whether an effect accepted from a superseded attempt is a failure.
    pub stale: bool,
}

/// What a slot is that a declared policy dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkippedAs {
    /// Skipped, as declared.
    #[default]
    Ok,
    /// Lost: the slot had to happen.
    Lost,
}

/// Whether giving a run up, on record, breaks the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GaveUpAs {
    /// It does.
    #[default]
    Failure,
    /// A person takes over: it does not.
    Ok,
}

/// Durations as scenario files write them: `"30s"`, `"250ms"`, `"1m 30s"`; whole milliseconds.
mod duration {
    use super::{Deserialize, Deserializer, Duration, Serializer, de};

    pub fn serialize<S: Serializer>(ms: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
        match ms {
            Some(ms) => to.collect_str(&humantime::format_duration(Duration::from_millis(*ms))),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
        let text = String::deserialize(from)?;
        let allowed = "a duration such as \"30s\", \"250ms\" or \"1m 30s\"";
        let parsed = humantime::parse_duration(&text)
            .map_err(|error| de::Error::custom(format!("`{text}` is not {allowed}: {error}")))?;
        if parsed.subsec_nanos() % 1_000_000 != 0 {
            return Err(de::Error::custom(format!(
                "`{text}` is finer than a millisecond; allowed is {allowed}"
            )));
        }
        u64::try_from(parsed.as_millis())
            .map(Some)
            .map_err(|_| de::Error::custom(format!("`{text}` is too long; allowed is {allowed}")))
    }
}
