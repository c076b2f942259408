//! What makes no sense of a broker.

use super::super::Scenario;
use super::super::check::Checked;
use super::super::document::Document;
use super::{BrokerTable, Confirm, DedupScope, DelayedBy, StaleTag};

/// Refuses keys that contradict each other, and those that could not act.
pub(in super::super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let broker = &scenario.broker;
    if !scenario.topology.kind.has_broker() {
        return Ok(());
    }
    match contradiction(broker) {
        Some((key, why)) => Err(document.error(&format!("broker.{key}"), format!("{key}: {why}"))),
        None => Ok(()),
    }
}

fn contradiction(broker: &BrokerTable) -> Option<(&'static str, &'static str)> {
    let on_disconnect = broker.redeliver_on_disconnect;
    let partitioned = broker.partitions > 0;
    let refused = [
        (
            broker.renew_every.0.is_some() && !broker.renewable,
            "renew_every",
            "nothing extends a deadline of this broker; allowed is \"off\", or `renewable = true`",
        ),
        (
            on_disconnect && broker.session_timeout.0.is_some(),
            "session_timeout",
            "deliveries go back either at once or when a session is over; allowed is \"off\", or \
             `redeliver_on_disconnect = false`",
        ),
        (
            broker.stale_tag != StaleTag::NoTags && !on_disconnect,
            "stale_tag",
            "tags belong to a connection that holds its deliveries; allowed is \"no_tags\", or \
             `redeliver_on_disconnect = true`",
        ),
        (
            broker.dedup_scope == DedupScope::Partition && !partitioned,
            "dedup_scope",
            "there are no partitions; allowed is \"queue\", or `partitions` above 0",
        ),
        (
            partitioned && broker.prefetch > 0,
            "prefetch",
            "a partition is read one message after the other; allowed is 0, or `partitions = 0`",
        ),
        (
            partitioned && !broker.assign.is_default(),
            "assign",
            "partitions are dealt to the members of the group; allowed is \"longest_waiting\", or \
             `partitions = 0`",
        ),
        (
            partitioned && broker.delayed_by == DelayedBy::Worker,
            "delayed_by",
            "a member that waits stops its whole partition; allowed is \"broker\", or \
             `partitions = 0`",
        ),
        (
            broker.puts_back && !broker.settles_on_delivery(),
            "puts_back",
            "a consumer puts back only what was settled by being handed over; allowed is false, \
             or `settled_on_delivery = true`",
        ),
        (
            broker.fsync_every.0.is_some() && broker.confirm == Confirm::Synced,
            "fsync_every",
            "a publish is confirmed only once it is on the disk; allowed is \"off\", or \
             `confirm = \"written\"`",
        ),
    ];
    refused
        .into_iter()
        .find_map(|(wrong, key, why)| wrong.then_some((key, why)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_could_not_act_is_refused_with_what_is_allowed() {
        for (text, key) in [
            (
                "profile = 'rabbitmq-classic'\nrenew_every = '10s'",
                "renew_every",
            ),
            (
                "redeliver_on_disconnect = true\nsession_timeout = '9s'",
                "session_timeout",
            ),
            ("stale_tag = 'settles_another'", "stale_tag"),
            ("dedup_scope = 'partition'", "dedup_scope"),
            ("profile = 'kafka'\nprefetch = 5", "prefetch"),
            ("profile = 'kafka'\nassign = 'consistent_hash'", "assign"),
            ("profile = 'kafka'\ndelayed_by = 'worker'", "delayed_by"),
            ("puts_back = true", "puts_back"),
            ("fsync_every = '1s'", "fsync_every"),
            ("partitions = 65", "partitions"),
        ] {
            let text = format!("[broker]\n{text}");
            let error = Scenario::parse(&text, "t.toml").unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("allowed"), "{error}");
        }
    }

    #[test]
    fn every_profile_is_free_of_contradictions() {
        for profile in super::super::BrokerProfile::ALL {
            let text = format!("[broker]\nprofile = '{}'", profile.name());
            let scenario = Scenario::parse(&text, "t.toml");
            assert!(scenario.is_ok(), "{}: {scenario:?}", profile.name());
            assert_eq!(scenario.unwrap().broker, BrokerTable::of(profile));
        }
    }
}
