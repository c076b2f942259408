//! `horizon`: when an execution is cut off that has not come to rest by itself.

use scheduler::Span;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// When an execution ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Horizon {
    /// 4 x the longest deadline (backoff included), and the time that the work of all slots takes
    /// one after the other, after the later of the last slot and the end of the last fault.
    #[default]
    Auto,
    /// So long after the later of the last slot and the end of the last fault.
    After(Span),
}

impl Serialize for Horizon {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Horizon::Auto => serializer.serialize_str("auto"),
            Horizon::After(span) => span.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Horizon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Horizon;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"auto\", or a duration such as \"1h\", longer than 0")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Horizon, E> {
                if text == "auto" {
                    return Ok(Horizon::Auto);
                }
                match Span::parse(text).map_err(E::custom)? {
                    Span::ZERO => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                    span => Ok(Horizon::After(span)),
                }
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}
