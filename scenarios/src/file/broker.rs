//! `[broker]`: what the queue promises, and where it lets go.

use scheduler::{Span, Switchable};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// `[broker]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BrokerTable {
    /// Where the other fields get their defaults from.
    pub profile: BrokerProfile,
    /// How long a consumer has to settle a delivery before the message is handed over again.
    pub ack_deadline: Switchable,
    /// How often a consumer extends the deadline while it works.
    pub renew_every: Switchable,
    /// After how many deliveries a message is not delivered again.
    pub max_deliver: MaxDeliver,
    /// What becomes of a message after `max_deliver` deliveries.
    pub then: AfterMaxDeliver,
    /// Whether a deferral uses up one of the deliveries.
    pub deferral_counts: bool,
    /// Whether an ack that comes after the deadline is refused (false: it settles the message).
    pub ack_fencing: bool,
    /// How long the broker remembers a producer's dedup id.
    pub dedup_window: Switchable,
    /// Whether unsettled deliveries go back at once when the consumer's connection breaks (false:
    /// only after `ack_deadline`).
    pub redeliver_on_disconnect: bool,
    /// Whether the broker loses its messages when it restarts.
    pub loses_on_restart: bool,
    /// Which of the consumers that wait gets a message.
    #[serde(skip_serializing_if = "Assign::is_default")]
    pub assign: Assign,
}

/// The profile `at-least-once`.
impl Default for BrokerTable {
    fn default() -> Self {
        BrokerTable {
            profile: BrokerProfile::AtLeastOnce,
            ack_deadline: Switchable(Some(Span::secs(30))),
            renew_every: Switchable(None),
            max_deliver: MaxDeliver::Unlimited,
            then: AfterMaxDeliver::DeadLetter,
            deferral_counts: false,
            ack_fencing: false,
            dedup_window: Switchable(None),
            redeliver_on_disconnect: false,
            loses_on_restart: false,
            assign: Assign::LongestWaiting,
        }
    }
}

/// What kind of broker it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokerProfile {
    /// A message stays until a consumer settles it (Pub/Sub, SQS, JetStream, RabbitMQ with acks).
    #[default]
    AtLeastOnce,
    /// A message counts as settled the moment it is handed over, and is kept in memory only (core
    /// NATS, Redis pub/sub, automatic acks).
    AtMostOnce,
}

/// Which of the consumers that wait gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assign {
    /// The one that has waited longest.
    #[default]
    LongestWaiting,
    /// The one that rendezvous hashing of runKey and instance puts first: the same for a run as
    /// long as it waits (Thaler and Ravishankar, "A name-based mapping scheme for rendezvous",
    /// 1996; RabbitMQ's consistent hash exchange).
    ConsistentHash,
}

impl Assign {
    fn is_default(&self) -> bool {
        *self == Assign::default()
    }
}

/// After how many deliveries a message is not delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum MaxDeliver {
    /// Never.
    #[default]
    Unlimited,
    /// After so many, at least 1.
    Times(u32),
}

impl Serialize for MaxDeliver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            MaxDeliver::Unlimited => serializer.serialize_str("unlimited"),
            MaxDeliver::Times(times) => serializer.serialize_u32(*times),
        }
    }
}

impl<'de> Deserialize<'de> for MaxDeliver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = MaxDeliver;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"unlimited\" or a number of deliveries, at least 1")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<MaxDeliver, E> {
                match text {
                    "unlimited" => Ok(MaxDeliver::Unlimited),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_i64<E: de::Error>(self, times: i64) -> Result<MaxDeliver, E> {
                match u32::try_from(times) {
                    Ok(times @ 1..) => Ok(MaxDeliver::Times(times)),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(times), &self)),
                }
            }
            fn visit_u64<E: de::Error>(self, times: u64) -> Result<MaxDeliver, E> {
                match u32::try_from(times) {
                    Ok(times @ 1..) => Ok(MaxDeliver::Times(times)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(times), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// What becomes of a message after its last delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterMaxDeliver {
    /// It is parked where a person finds it.
    #[default]
    DeadLetter,
    /// It is gone.
    Drop,
}
