//! `[broker]`: what the queue promises, and where it lets go.

mod check;
mod profile;
mod words;

pub(super) use check::check;
pub use profile::BrokerProfile;
pub use words::{
    AckFencing, Confirm, DedupBy, DedupScope, DelayedBy, Order, Outage, Refusals, StaleTag,
};

use scheduler::{Span, Switchable};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use servers::broker::rules::{self, Rules};
use std::fmt;

/// `[broker]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BrokerTable {
    /// Where the other fields get their defaults from.
    pub profile: BrokerProfile,
    /// How long a consumer has to settle a delivery before the message is handed over again.
    pub ack_deadline: Switchable,
    /// The same by number of the delivery, in place of `ack_deadline`; the last one stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backoff: Vec<Span>,
    /// How often the broker looks for deliveries that are past their deadline; off: at once.
    #[serde(skip_serializing_if = "is_off")]
    pub checked_every: Switchable,
    /// Whether a deadline that passes breaks the consumer's connection, with all that it holds.
    #[serde(skip_serializing_if = "is_false")]
    pub deadline_closes: bool,
    /// How often a consumer extends the deadline while it works.
    pub renew_every: Switchable,
    /// Whether a consumer can extend the deadline at all.
    #[serde(skip_serializing_if = "is_true")]
    pub renewable: bool,
    /// After how many deliveries a message is not delivered again.
    pub max_deliver: MaxDeliver,
    /// What becomes of a message after `max_deliver` deliveries.
    pub then: AfterMaxDeliver,
    /// Whether a deferral uses up one of the deliveries.
    pub deferral_counts: bool,
    /// Whether a deadline that passes uses up one of the deliveries.
    #[serde(skip_serializing_if = "is_true")]
    pub deadline_counts: bool,
    /// Whether a connection that breaks uses up one of the deliveries.
    #[serde(skip_serializing_if = "is_true")]
    pub disconnect_counts: bool,
    /// Whether a message is settled by being handed over. The profile `at-most-once` always does.
    #[serde(skip_serializing_if = "is_false")]
    pub settled_on_delivery: bool,
    /// Whether a consumer defers a message that was settled by being handed over by putting it back
    /// itself.
    #[serde(skip_serializing_if = "is_false")]
    pub puts_back: bool,
    /// Whose ack settles a message.
    pub ack_fencing: AckFencing,
    /// Whether a consumer learns that its ack was refused.
    #[serde(skip_serializing_if = "is_default")]
    pub refusals: Refusals,
    /// Whether a deferral or a renewal by a delivery that no longer holds the message acts on it
    /// all the same.
    #[serde(skip_serializing_if = "is_false")]
    pub stale_deferral_acts: bool,
    /// What an ack does that comes after the connection of its delivery was replaced.
    #[serde(skip_serializing_if = "is_default")]
    pub stale_tag: StaleTag,
    /// How long the broker remembers a producer's dedup id.
    pub dedup_window: Switchable,
    /// By what it recognises a repeated publish.
    #[serde(skip_serializing_if = "is_default")]
    pub dedup_by: DedupBy,
    /// Among which messages.
    #[serde(skip_serializing_if = "is_default")]
    pub dedup_scope: DedupScope,
    /// Whether unsettled deliveries go back at once when the consumer's connection breaks (false:
    /// only after `ack_deadline`).
    pub redeliver_on_disconnect: bool,
    /// How long a consumer whose connection broke is believed alive; then its deliveries go back.
    #[serde(skip_serializing_if = "is_off")]
    pub session_timeout: Switchable,
    /// Whether the broker loses its messages when it restarts.
    pub loses_on_restart: bool,
    /// What a publisher knows once its publish is confirmed.
    #[serde(skip_serializing_if = "is_default")]
    pub confirm: Confirm,
    /// How often the broker brings to the disk what it has written.
    #[serde(skip_serializing_if = "is_off")]
    pub fsync_every: Switchable,
    /// How far the replica that takes over in a failover is behind at most. Default: there is no
    /// replica, and no failover.
    #[serde(skip_serializing_if = "is_off")]
    pub failover_loses: Switchable,
    /// What goes down when the broker restarts.
    #[serde(skip_serializing_if = "is_default")]
    pub outage: Outage,
    /// How many deliveries one process holds at most, those that it takes ahead of its work
    /// included; their deadline runs meanwhile. 0: one for each that it works on.
    #[serde(skip_serializing_if = "is_zero")]
    pub prefetch: u32,
    /// How many messages may be unsettled before no fresh one is handed over.
    #[serde(skip_serializing_if = "is_default")]
    pub max_unsettled: MaxDeliver,
    /// Where a message goes that was deferred, once its time has come.
    #[serde(skip_serializing_if = "is_default")]
    pub order_after_deferral: Order,
    /// Where a message goes that nobody settled.
    #[serde(skip_serializing_if = "is_default")]
    pub order_after_loss: Order,
    /// Who holds a deferred message.
    #[serde(skip_serializing_if = "is_default")]
    pub delayed_by: DelayedBy,
    /// Into how many partitions the runs are dealt by their runKey, each read in order by one
    /// member of a group of consumers; 0: into none.
    #[serde(skip_serializing_if = "is_zero")]
    pub partitions: u32,
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
            backoff: Vec::new(),
            checked_every: Switchable(None),
            deadline_closes: false,
            renew_every: Switchable(None),
            renewable: true,
            max_deliver: MaxDeliver::Unlimited,
            then: AfterMaxDeliver::DeadLetter,
            deferral_counts: false,
            deadline_counts: true,
            disconnect_counts: true,
            settled_on_delivery: false,
            puts_back: false,
            ack_fencing: AckFencing::Off,
            refusals: Refusals::Told,
            stale_deferral_acts: false,
            stale_tag: StaleTag::NoTags,
            dedup_window: Switchable(None),
            dedup_by: DedupBy::Id,
            dedup_scope: DedupScope::Queue,
            redeliver_on_disconnect: false,
            session_timeout: Switchable(None),
            loses_on_restart: false,
            confirm: Confirm::Synced,
            fsync_every: Switchable(None),
            failover_loses: Switchable(None),
            outage: Outage::Process,
            prefetch: 0,
            max_unsettled: MaxDeliver::Unlimited,
            order_after_deferral: Order::Back,
            order_after_loss: Order::Back,
            delayed_by: DelayedBy::Broker,
            partitions: 0,
            assign: Assign::LongestWaiting,
        }
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_off(value: &Switchable) -> bool {
    value.0.is_none()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl BrokerTable {
    /// What the model of the broker is told.
    pub fn rules(&self) -> Rules {
        let ms = |switchable: Switchable| switchable.0.map(Span::ms);
        let some = |number: u32| (number > 0).then_some(number);
        Rules {
            redelivery: rules::Redelivery {
                after: ms(self.ack_deadline),
                backoff: self.backoff.iter().map(|span| span.ms()).collect(),
                checked_every: ms(self.checked_every),
                closes: self.deadline_closes,
                not_renewable: !self.renewable,
                renewed_every: ms(self.renew_every),
            },
            max_deliver: self.max_deliver.times(),
            then: self.then.rule(),
            gives_up: rules::GivesUp::OnReturn,
            counts: rules::Counts {
                nack: self.deferral_counts,
                deadline: self.deadline_counts,
                disconnect: self.disconnect_counts,
            },
            settled_on_delivery: self.settles_on_delivery(),
            puts_back: self.puts_back,
            fencing: self.ack_fencing.rule(),
            refusals: self.refusals.rule(),
            stale_nack_acts: self.stale_deferral_acts,
            stale_tag: self.stale_tag.rule(),
            dedup: ms(self.dedup_window).map(|window| rules::DedupRules {
                window,
                scope: self.dedup_scope.rule(),
                by: self.dedup_by.rule(),
            }),
            crash: match ms(self.session_timeout) {
                Some(session) => rules::Crash::AfterSession(session),
                None if self.redeliver_on_disconnect => rules::Crash::OnDisconnect,
                None => rules::Crash::AtDeadline,
            },
            loses_on_restart: self.loses_on_restart,
            flag: rules::RedeliveredFlag::Exact,
            prefetch: some(self.prefetch),
            max_unsettled: self.max_unsettled.times(),
            nacked: self.order_after_deferral.rule(),
            lost: self.order_after_loss.rule(),
            delayed: self.delayed_by.rule(),
            confirm: self.confirm.rule(),
            fsync_every: ms(self.fsync_every),
            partitions: some(self.partitions),
        }
    }

    /// Whether a message is settled by being handed over.
    pub fn settles_on_delivery(&self) -> bool {
        self.settled_on_delivery || self.profile == BrokerProfile::AtMostOnce
    }

    /// The table of a profile where the file says nothing else.
    pub fn of(profile: BrokerProfile) -> Self {
        let Some(known) = servers::broker::profiles::named(profile.name()) else {
            return BrokerTable::default();
        };
        let rules = known.rules();
        let span = |ms: Option<u64>| Switchable(ms.map(Span::millis));
        // What the profile has always been needs no key of its own.
        let at_most_once = profile == BrokerProfile::AtMostOnce;
        BrokerTable {
            profile,
            ack_deadline: span(rules.redelivery.after),
            backoff: rules
                .redelivery
                .backoff
                .iter()
                .map(|ms| Span::millis(*ms))
                .collect(),
            checked_every: span(rules.redelivery.checked_every),
            deadline_closes: rules.redelivery.closes,
            renew_every: span(rules.redelivery.renewed_every),
            renewable: !rules.redelivery.not_renewable,
            max_deliver: MaxDeliver::of(rules.max_deliver),
            then: AfterMaxDeliver::of(rules.then),
            deferral_counts: rules.counts.nack,
            deadline_counts: rules.counts.deadline,
            disconnect_counts: rules.counts.disconnect,
            settled_on_delivery: rules.settled_on_delivery && !at_most_once,
            puts_back: rules.puts_back,
            ack_fencing: AckFencing::of(rules.fencing),
            refusals: Refusals::of(rules.refusals),
            stale_deferral_acts: rules.stale_nack_acts,
            stale_tag: StaleTag::of(rules.stale_tag),
            dedup_window: span(rules.dedup.map(|dedup| dedup.window)),
            dedup_by: rules
                .dedup
                .map_or(DedupBy::Id, |dedup| DedupBy::of(dedup.by)),
            dedup_scope: rules
                .dedup
                .map_or(DedupScope::Queue, |d| DedupScope::of(d.scope)),
            redeliver_on_disconnect: rules.crash == rules::Crash::OnDisconnect,
            session_timeout: match rules.crash {
                rules::Crash::AfterSession(session) => span(Some(session)),
                _ => Switchable(None),
            },
            loses_on_restart: rules.loses_on_restart,
            confirm: Confirm::of(rules.confirm),
            fsync_every: span(rules.fsync_every),
            failover_loses: Switchable(None),
            outage: Outage::Process,
            prefetch: rules.prefetch.unwrap_or(0),
            max_unsettled: MaxDeliver::of(rules.max_unsettled),
            order_after_deferral: Order::of(rules.nacked),
            order_after_loss: Order::of(rules.lost),
            delayed_by: DelayedBy::of(rules.delayed),
            partitions: rules.partitions.unwrap_or(0),
            assign: Assign::LongestWaiting,
        }
    }
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

impl MaxDeliver {
    /// As a number, if it is one.
    pub const fn times(self) -> Option<u32> {
        match self {
            MaxDeliver::Unlimited => None,
            MaxDeliver::Times(times) => Some(times),
        }
    }

    fn of(times: Option<u32>) -> Self {
        times.map_or(MaxDeliver::Unlimited, MaxDeliver::Times)
    }
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
    /// It stays stored, and is never delivered again.
    Keep,
}

impl AfterMaxDeliver {
    const fn rule(self) -> rules::Then {
        match self {
            AfterMaxDeliver::DeadLetter => rules::Then::DeadLetter,
            AfterMaxDeliver::Drop => rules::Then::Drop,
            AfterMaxDeliver::Keep => rules::Then::Keep,
        }
    }

    const fn of(rule: rules::Then) -> Self {
        match rule {
            rules::Then::DeadLetter => AfterMaxDeliver::DeadLetter,
            rules::Then::Drop => AfterMaxDeliver::Drop,
            rules::Then::Keep => AfterMaxDeliver::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_without_a_product_is_the_default() {
        assert_eq!(
            BrokerTable::of(BrokerProfile::AtLeastOnce),
            BrokerTable::default()
        );
    }

    #[test]
    fn every_profile_has_a_row_of_rules_and_reads_back_as_it_is_written() {
        for profile in BrokerProfile::ALL {
            let known = servers::broker::profiles::named(profile.name());
            assert!(known.is_some(), "{}", profile.name());
            let table = BrokerTable::of(profile);
            let written = serde_json::to_value(&table).ok();
            let read = written.and_then(|value| serde_json::from_value(value).ok());
            assert_eq!(read, Some(table));
        }
        assert_eq!(
            BrokerProfile::ALL.len(),
            servers::broker::profiles::ALL.len()
        );
    }

    #[test]
    fn a_profile_tells_the_model_what_its_row_says() {
        for profile in BrokerProfile::ALL {
            let Some(known) = servers::broker::profiles::named(profile.name()) else {
                continue;
            };
            // The simulator looks at the number of deliveries when a message comes back, and shows
            // no flag to anybody; a broker in memory is one that loses on restart.
            let row = Rules {
                gives_up: rules::GivesUp::OnReturn,
                flag: rules::RedeliveredFlag::Exact,
                ..known.rules()
            };
            assert_eq!(BrokerTable::of(profile).rules(), row, "{}", profile.name());
        }
    }
}
