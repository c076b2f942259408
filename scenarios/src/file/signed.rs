//! A length of time that may point backwards, written `-2s`, `250ms` or `+1m 30s`.

use scheduler::Span;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A signed length of time, in whole milliseconds, at most [`Span::MAX`] either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SignedSpan(i64);

impl SignedSpan {
    /// No time at all.
    pub const ZERO: SignedSpan = SignedSpan(0);

    /// So many milliseconds (cut at [`Span::MAX`] either way).
    pub const fn millis(ms: i64) -> Self {
        let size = Span::millis(ms.unsigned_abs()).as_i64();
        SignedSpan(if ms < 0 { -size } else { size })
    }

    /// In milliseconds.
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// Reads `-2s`, `250ms`, `+1m 30s`; says what is allowed otherwise.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (negative, size) = match text.strip_prefix('-') {
            Some(size) => (true, size),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let size = Span::parse(size)
            .map_err(|_| format!("`{text}` is not {}", Self::ALLOWED))?
            .as_i64();
        Ok(SignedSpan(if negative { -size } else { size }))
    }

    const ALLOWED: &str = "a duration with or without a sign such as \"-2s\" or \"250ms\"";
}

impl fmt::Display for SignedSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            f.write_str("-")?;
        }
        Span::millis(self.0.unsigned_abs()).fmt(f)
    }
}

impl Serialize for SignedSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SignedSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = SignedSpan;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(SignedSpan::ALLOWED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SignedSpan, E> {
                SignedSpan::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_points_backwards_or_forwards() {
        assert_eq!(SignedSpan::parse("-2s"), Ok(SignedSpan::millis(-2000)));
        assert_eq!(SignedSpan::parse("+2s"), Ok(SignedSpan::millis(2000)));
        assert_eq!(SignedSpan::parse("250ms"), Ok(SignedSpan::millis(250)));
        assert_eq!(SignedSpan::millis(-90_000).to_string(), "-1m 30s");
    }

    #[test]
    fn two_signs_are_refused() {
        assert!(SignedSpan::parse("--2s").is_err());
        assert!(SignedSpan::parse("-").is_err());
    }
}
