//! RabbitMQ: classic queues, and quorum queues by the rules of 3.x and of 4.3.

use super::super::rules::{
    Confirm, Counts, Crash, Fencing, Order, RedeliveredFlag, Redelivery, Rules, StaleTag, Then,
};
use super::{MINUTE, Profile};

/// Classic queues.
pub const RABBITMQ_CLASSIC: Profile = Profile {
    name: "rabbitmq-classic",
    of: "RabbitMQ 3.10, guides Consumers, Confirms, Reliability; vectors C1 to C14",
    rules: || Rules {
        redelivery: Redelivery {
            // "Delivery Acknowledgement Timeout": 30 minutes; the channel is closed.
            after: Some(30 * MINUTE),
            // `channel_tick_interval`: 60 s.
            checked_every: Some(MINUTE),
            closes: true,
            // Nothing extends it.
            not_renewable: true,
            backoff: Vec::new(),
            renewed_every: None,
        },
        // Vectors C2, C3: a closed channel and a broken connection give all back at once.
        crash: Crash::OnDisconnect,
        // Vector C8: a channel settles only what it holds.
        fencing: Fencing::Token,
        // Vector C8d shows what a client does that takes the number only; most clients keep the
        // channel with the tag.
        stale_tag: StaleTag::Refused,
        // Vector C5: prefetched and never looked at is "redelivered" too.
        flag: RedeliveredFlag::Hint,
        // Vectors C7, C7b: requeued messages go to their original position, where possible.
        nacked: Order::Place,
        lost: Order::Place,
        // Confirms guide: a persistent message is confirmed once it is written to disk.
        confirm: Confirm::Synced,
        ..Rules::default()
    },
};

/// Quorum queues under the rules of 3.x.
pub const RABBITMQ_QUORUM_3: Profile = Profile {
    name: "rabbitmq-quorum",
    of: "RabbitMQ 3.10, guide Quorum Queues; vectors C7d, C7e, C10 to C10c",
    rules: || Rules {
        // `x-delivery-count` says how often.
        flag: RedeliveredFlag::Exact,
        // Vector C7d, without a delivery limit: written anew at the end of the log.
        nacked: Order::Back,
        // Vector C7e: what a closed channel held comes before the rest, in its order.
        lost: Order::Front,
        // No delivery limit by default in 3.x; every return counts (vectors C10, C10c).
        max_deliver: None,
        counts: Counts {
            nack: true,
            deadline: true,
            disconnect: true,
        },
        // On a quorum of replicas before it is confirmed.
        confirm: Confirm::Synced,
        ..RABBITMQ_CLASSIC.rules()
    },
};

/// Quorum queues under the rules of 4.3.
pub const RABBITMQ_QUORUM_4_3: Profile = Profile {
    name: "rabbitmq-quorum-4.3",
    of: "RabbitMQ 4.3, guides Quorum Queues and Consumers",
    rules: || Rules {
        redelivery: Redelivery {
            after: Some(30 * MINUTE),
            checked_every: Some(MINUTE),
            // Since 4.3 the queue itself takes late deliveries back; the channel stays.
            closes: false,
            not_renewable: true,
            backoff: Vec::new(),
            renewed_every: None,
        },
        // "Poison message handling": since 4.0 the limit is 20 by default, so 21 deliveries.
        max_deliver: Some(21),
        then: Then::Drop,
        // Since 4.3 `basic.nack` and the consumer timeout do not count; a lost consumer does.
        counts: Counts {
            nack: false,
            deadline: false,
            disconnect: true,
        },
        // With a limit a returned message stays before those that were never delivered.
        nacked: Order::Front,
        ..RABBITMQ_QUORUM_3.rules()
    },
};
