//! Queues as a service: SQS, Pub/Sub, Service Bus.

use super::super::rules::{
    Confirm, Counts, DedupBy, DedupRules, DedupScope, Fencing, Order, RedeliveredFlag, Refusals,
    Rules, Then,
};
use super::{MINUTE, Profile, SECOND, after};

/// A standard queue.
pub const SQS_STANDARD: Profile = Profile {
    name: "sqs-standard",
    of: "Amazon SQS Developer Guide and API Reference",
    rules: || Rules {
        // "Visibility timeout": 30 s by default; ChangeMessageVisibility starts it anew.
        redelivery: after(30 * SECOND),
        // Without a redrive policy there is no limit.
        max_deliver: None,
        then: Then::DeadLetter,
        // DeleteMessage: an old receipt handle succeeds, and may not delete.
        fencing: Fencing::Latest,
        refusals: Refusals::Silent,
        // `ApproximateReceiveCount`.
        flag: RedeliveredFlag::Hint,
        // Best-effort order.
        nacked: Order::Back,
        lost: Order::Back,
        // Stored redundantly before it is confirmed.
        confirm: Confirm::Synced,
        ..Rules::default()
    },
};

/// A FIFO queue.
pub const SQS_FIFO: Profile = Profile {
    name: "sqs-fifo",
    of: "Amazon SQS Developer Guide, FIFO queues",
    rules: || Rules {
        // After the visibility timeout a receipt handle is expired, and DeleteMessage says so.
        fencing: Fencing::Token,
        refusals: Refusals::Told,
        // "Deduplication interval": 5 minutes, for the whole queue, by MessageDeduplicationId; the
        // message is remembered after it was deleted.
        dedup: Some(DedupRules {
            window: 5 * MINUTE,
            scope: DedupScope::Queue,
            by: DedupBy::Id,
        }),
        // Strict order within a message group; here each run is a group of its own.
        nacked: Order::Place,
        lost: Order::Place,
        ..SQS_STANDARD.rules()
    },
};

/// A pull subscription.
pub const PUBSUB: Profile = Profile {
    name: "pubsub",
    of: "Google Cloud Pub/Sub documentation, Subscription properties, Lease management",
    rules: || Rules {
        // `ackDeadlineSeconds`: 10 s by default; ModifyAckDeadline starts it anew.
        redelivery: after(10 * SECOND),
        // A dead letter topic is optional.
        max_deliver: None,
        then: Then::DeadLetter,
        // An ack after the deadline is best effort: it may or may not settle; here it does.
        fencing: Fencing::Off,
        refusals: Refusals::Silent,
        // `delivery_attempt` is there only with a dead letter topic.
        flag: RedeliveredFlag::Absent,
        confirm: Confirm::Synced,
        ..Rules::default()
    },
};

/// A pull subscription with exactly-once delivery.
pub const PUBSUB_EXACTLY_ONCE: Profile = Profile {
    name: "pubsub-exactly-once",
    of: "Google Cloud Pub/Sub documentation, Exactly-once delivery",
    rules: || Rules {
        // The default deadline of such a subscription is 60 s.
        redelivery: after(MINUTE),
        // The ack of a delivery whose deadline is over fails, and the client is told.
        fencing: Fencing::Token,
        refusals: Refusals::Told,
        ..PUBSUB.rules()
    },
};

/// A queue, received with peek-lock.
pub const SERVICE_BUS: Profile = Profile {
    name: "service-bus",
    of: "Azure Service Bus documentation, Message transfers, locks, and settlement; Quotas",
    rules: || Rules {
        // Lock duration: 1 minute by default; RenewLock starts it anew.
        redelivery: after(MINUTE),
        // Maximum delivery count: 10, then the dead-letter queue.
        max_deliver: Some(10),
        then: Then::DeadLetter,
        // Abandon and an expired lock count.
        counts: Counts {
            nack: true,
            deadline: true,
            disconnect: true,
        },
        // The lock token: MessageLockLost once it is over.
        fencing: Fencing::Token,
        refusals: Refusals::Told,
        // Duplicate detection is off by default; its window would be 10 minutes.
        dedup: None,
        // DeliveryCount.
        flag: RedeliveredFlag::Exact,
        nacked: Order::Place,
        lost: Order::Place,
        confirm: Confirm::Synced,
        ..Rules::default()
    },
};
