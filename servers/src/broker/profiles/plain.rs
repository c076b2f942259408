//! No product: what two words promise.

use super::super::rules::{Counts, Rules, Then};
use super::{Profile, SECOND, after};

/// No product: a message stays until it is settled.
pub const AT_LEAST_ONCE: Profile = Profile {
    name: "at-least-once",
    of: "no product",
    rules: || Rules {
        // The middle of what queues with a visibility timeout start with (SQS 30 s, JetStream 30 s).
        redelivery: after(30 * SECOND),
        counts: Counts {
            nack: false,
            ..Counts::default()
        },
        ..Rules::default()
    },
};

/// No product: a message is gone once it is handed over.
pub const AT_MOST_ONCE: Profile = Profile {
    name: "at-most-once",
    of: "no product (core NATS, Redis pub/sub, automatic acks)",
    rules: || Rules {
        settled_on_delivery: true,
        // Source: core NATS ("at most once") and Redis pub/sub, both in memory only.
        loses_on_restart: true,
        max_deliver: Some(1),
        then: Then::Drop,
        counts: Counts {
            nack: false,
            ..Counts::default()
        },
        ..Rules::default()
    },
};
