//! A length of time in whole milliseconds, written `30s`, `1m 30s`, `250ms` in scenario files.

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// A length of time, in whole milliseconds, never negative, at most [`Span::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// Whether it is none.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }
    /// The longest span accepted: 100 years of 365 days.
    pub const MAX: Span = Span(100 * 365 * 24 * 3600 * 1000);

    /// So many milliseconds (cut at [`Span::MAX`]).
    pub const fn millis(ms: u64) -> Self {
        if ms > Self::MAX.0 {
            Self::MAX
        } else {
            Span(ms)
        }
    }

    /// So many seconds (cut at [`Span::MAX`]).
    pub const fn secs(s: u64) -> Self {
        Self::millis(s.saturating_mul(1000))
    }

    /// In milliseconds.
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// In milliseconds, signed, for arithmetic with timestamps.
    pub const fn as_i64(self) -> i64 {
        self.0 as i64
    }

    /// As the standard library's duration.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }

    /// Reads `30s`, `1m 30s`, `250ms`; says what is allowed otherwise.
    pub fn parse(text: &str) -> Result<Self, String> {
        let allowed = "a duration such as \"30s\", \"250ms\" or \"1m 30s\"";
        let parsed = humantime::parse_duration(text)
            .map_err(|error| format!("`{text}` is not {allowed}: {error}"))?;
        if parsed.subsec_nanos() % 1_000_000 != 0 {
            return Err(format!(
                "`{text}` is finer than a millisecond; allowed is {allowed}"
            ));
        }
        u64::try_from(parsed.as_millis())
            .ok()
            .filter(|ms| *ms <= Self::MAX.0)
            .map(Span)
            .ok_or_else(|| format!("`{text}` is longer than 100 years"))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.duration()).fmt(f)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as \"30s\", \"250ms\" or \"1m 30s\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                Span::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// Reads a span that may not be zero (`#[serde(deserialize_with = "positive")]`): a lease, a TTL,
/// an interval.
pub fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
    let span = Span::deserialize(deserializer)?;
    if span == Span::ZERO {
        return Err(de::Error::custom(
            "`0s` is not allowed here; allowed is a duration longer than zero, such as \"30s\"",
        ));
    }
    Ok(span)
}

/// A span longer than zero that can be switched off with `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Switchable(pub Option<Span>);

impl Serialize for Switchable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(span) => span.serialize(serializer),
            None => serializer.serialize_str("off"),
        }
    }
}

impl<'de> Deserialize<'de> for Switchable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Switchable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as \"30s\", or \"off\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Switchable, E> {
                match text {
                    "off" => Ok(Switchable(None)),
                    _ => match Span::parse(text).map_err(E::custom)? {
                        Span::ZERO => Err(E::custom(
                            "`0s` is not allowed here; allowed is a duration longer than zero, \
                             such as \"30s\", or \"off\"",
                        )),
                        span => Ok(Switchable(Some(span))),
                    },
                }
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}
