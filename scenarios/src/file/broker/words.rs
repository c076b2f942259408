//! Words of `[broker]`, and what each tells the model.

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use servers::broker::rules;
use std::fmt;

/// Whether a consumer learns that its ack was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusals {
    /// It is told.
    #[default]
    Told,
    /// It is thanked as if all were well, or there is no answer at all.
    Silent,
}

impl Refusals {
    pub(super) const fn rule(self) -> rules::Refusals {
        match self {
            Refusals::Told => rules::Refusals::Told,
            Refusals::Silent => rules::Refusals::Silent,
        }
    }

    pub(super) const fn of(rule: rules::Refusals) -> Self {
        match rule {
            rules::Refusals::Told => Refusals::Told,
            rules::Refusals::Silent => Refusals::Silent,
        }
    }
}

/// What an ack does that comes after the connection of its delivery was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StaleTag {
    /// The receipt names the message; the connection does not matter.
    #[default]
    NoTags,
    /// The client keeps the tags of an old channel from a new one.
    Refused,
    /// It settles whatever has its number on the new connection; a number that nothing has closes
    /// it.
    SettlesAnother,
}

impl StaleTag {
    pub(super) const fn rule(self) -> rules::StaleTag {
        match self {
            StaleTag::NoTags => rules::StaleTag::NoTags,
            StaleTag::Refused => rules::StaleTag::Refused,
            StaleTag::SettlesAnother => rules::StaleTag::SettlesAnother,
        }
    }

    pub(super) const fn of(rule: rules::StaleTag) -> Self {
        match rule {
            rules::StaleTag::NoTags => StaleTag::NoTags,
            rules::StaleTag::Refused => StaleTag::Refused,
            rules::StaleTag::SettlesAnother => StaleTag::SettlesAnother,
        }
    }
}

/// By what a broker recognises a repeated publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupBy {
    /// The producer's dedup id; the body does not matter.
    #[default]
    Id,
    /// The body, which is the run.
    Body,
}

impl DedupBy {
    pub(super) const fn rule(self) -> rules::DedupBy {
        match self {
            DedupBy::Id => rules::DedupBy::Id,
            DedupBy::Body => rules::DedupBy::Body,
        }
    }

    pub(super) const fn of(rule: rules::DedupBy) -> Self {
        match rule {
            rules::DedupBy::Id => DedupBy::Id,
            rules::DedupBy::Body => DedupBy::Body,
        }
    }
}

/// Among which messages a dedup id is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupScope {
    /// All of the queue.
    #[default]
    Queue,
    /// Those of the same partition.
    Partition,
}

impl DedupScope {
    pub(super) const fn rule(self) -> rules::DedupScope {
        match self {
            DedupScope::Queue => rules::DedupScope::Queue,
            DedupScope::Partition => rules::DedupScope::Partition,
        }
    }

    pub(super) const fn of(rule: rules::DedupScope) -> Self {
        match rule {
            rules::DedupScope::Queue => DedupScope::Queue,
            rules::DedupScope::Partition => DedupScope::Partition,
        }
    }
}

/// Where a message goes that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Behind all others.
    #[default]
    Back,
    /// To its place from before.
    Place,
    /// Before all that were never delivered, behind those that came back earlier.
    Front,
}

impl Order {
    pub(super) const fn rule(self) -> rules::Order {
        match self {
            Order::Back => rules::Order::Back,
            Order::Place => rules::Order::Place,
            Order::Front => rules::Order::Front,
        }
    }

    pub(super) const fn of(rule: rules::Order) -> Self {
        match rule {
            rules::Order::Back => Order::Back,
            rules::Order::Place => Order::Place,
            rules::Order::Front => Order::Front,
        }
    }
}

/// Who holds a deferred message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayedBy {
    /// The broker.
    #[default]
    Broker,
    /// The memory of a worker, as an unsettled delivery whose deadline runs.
    Worker,
}

impl DelayedBy {
    pub(super) const fn rule(self) -> rules::Delayed {
        match self {
            DelayedBy::Broker => rules::Delayed::Broker,
            DelayedBy::Worker => rules::Delayed::Worker,
        }
    }

    pub(super) const fn of(rule: rules::Delayed) -> Self {
        match rule {
            rules::Delayed::Broker => DelayedBy::Broker,
            rules::Delayed::Worker => DelayedBy::Worker,
        }
    }
}

/// What a publisher knows once its publish is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirm {
    /// The message is on the disk, or on a quorum of machines.
    #[default]
    Synced,
    /// It is with the operating system: it outlives the process, not the machine.
    Written,
    /// It is in the memory of the broker, and lost when that restarts.
    Received,
    /// Nothing: the publish counts as done when it is sent.
    Sent,
}

impl Confirm {
    pub(super) const fn rule(self) -> rules::Confirm {
        match self {
            Confirm::Synced => rules::Confirm::Synced,
            Confirm::Written => rules::Confirm::Written,
            Confirm::Received => rules::Confirm::Received,
            Confirm::Sent => rules::Confirm::Sent,
        }
    }

    pub(super) const fn of(rule: rules::Confirm) -> Self {
        match rule {
            rules::Confirm::Synced => Confirm::Synced,
            rules::Confirm::Written => Confirm::Written,
            rules::Confirm::Received => Confirm::Received,
            rules::Confirm::Sent => Confirm::Sent,
        }
    }
}

/// What goes down when a broker restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outage {
    /// Its process: what it has written is with the operating system.
    #[default]
    Process,
    /// The machine: what has not been brought to the disk since `fsync_every` is lost, a message
    /// and a settlement alike.
    Machine,
}

impl Outage {
    /// As the model says it.
    pub const fn rule(self) -> servers::broker::Outage {
        match self {
            Outage::Process => servers::broker::Outage::Process,
            Outage::Machine => servers::broker::Outage::Machine,
        }
    }
}

/// Whose ack settles a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AckFencing {
    /// That of any of its deliveries.
    #[default]
    Off,
    /// That of its last delivery, also after the deadline.
    Latest,
    /// That of the delivery that holds it, and of no other.
    Token,
}

impl AckFencing {
    pub(super) const fn rule(self) -> rules::Fencing {
        match self {
            AckFencing::Off => rules::Fencing::Off,
            AckFencing::Latest => rules::Fencing::Latest,
            AckFencing::Token => rules::Fencing::Token,
        }
    }

    pub(super) const fn of(rule: rules::Fencing) -> Self {
        match rule {
            rules::Fencing::Off => AckFencing::Off,
            rules::Fencing::Latest => AckFencing::Latest,
            rules::Fencing::Token => AckFencing::Token,
        }
    }
}

/// Fenced, as a file said it when there were two kinds.
impl From<bool> for AckFencing {
    fn from(fenced: bool) -> Self {
        if fenced {
            AckFencing::Token
        } else {
            AckFencing::Off
        }
    }
}

impl Serialize for AckFencing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AckFencing::Off => serializer.serialize_bool(false),
            AckFencing::Latest => serializer.serialize_str("latest"),
            AckFencing::Token => serializer.serialize_bool(true),
        }
    }
}

impl<'de> Deserialize<'de> for AckFencing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = AckFencing;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false, true or \"latest\"")
            }
            fn visit_bool<E: de::Error>(self, fenced: bool) -> Result<AckFencing, E> {
                Ok(fenced.into())
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AckFencing, E> {
                match text {
                    "latest" => Ok(AckFencing::Latest),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
