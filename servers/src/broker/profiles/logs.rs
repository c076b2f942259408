//! Logs that consumers read on: JetStream, Kafka, Redis streams.

use super::super::rules::{
    Confirm, Crash, DedupBy, DedupRules, DedupScope, Delayed, Fencing, GivesUp, Order,
    RedeliveredFlag, Redelivery, Refusals, Rules, Then,
};
use super::{MINUTE, Profile, SECOND, after};

/// A pull consumer with explicit acks on a stream in files.
pub const NATS_JETSTREAM: Profile = Profile {
    name: "nats-jetstream",
    of: "nats-server 2.9, JetStream pages Consumers, Streams; vectors D1 to D16",
    rules: || Rules {
        // `AckWait`: 30 s; `+WPI` starts it anew (vector D4).
        redelivery: after(30 * SECOND),
        // `MaxDeliver`: -1. The message stays in the stream (vector D5), looked at when it would be
        // handed over.
        max_deliver: None,
        then: Then::Keep,
        gives_up: GivesUp::OnHandOver,
        // Vector D3: acks go by sequence number; any delivery's ack settles.
        fencing: Fencing::Off,
        // Acks have no answer; an ack-sync is answered all the same (vector D7b).
        refusals: Refusals::Silent,
        stale_nack_acts: true,
        // `Duplicates`: 2 minutes; the body is not compared (vectors D6 to D6e).
        dedup: Some(DedupRules {
            window: 2 * MINUTE,
            scope: DedupScope::Queue,
            by: DedupBy::Id,
        }),
        // Vector D11: a broken connection does not matter.
        crash: Crash::AtDeadline,
        // `NumDelivered` is in the reply subject.
        flag: RedeliveredFlag::Exact,
        // `MaxAckPending`: 1000.
        max_unsettled: Some(1000),
        // Vectors D9, D9b.
        nacked: Order::Front,
        lost: Order::Front,
        // `sync_interval`: 2 minutes. Confirmed once written; it outlives kill -9 (vector D15b).
        confirm: Confirm::Written,
        fsync_every: Some(2 * MINUTE),
        ..Rules::default()
    },
};

/// A topic, read by a consumer group that commits each record.
pub const KAFKA: Profile = Profile {
    name: "kafka",
    of: "Apache Kafka 3.x documentation, Consumer Configs and Broker Configs",
    rules: || Rules {
        redelivery: Redelivery {
            // `max.poll.interval.ms`: 300000; whoever does not poll in time leaves the group.
            after: Some(5 * MINUTE),
            closes: true,
            not_renewable: true,
            backoff: Vec::new(),
            checked_every: None,
            renewed_every: None,
        },
        // A record is read again for ever.
        max_deliver: None,
        // A commit by a member of an older generation fails (CommitFailedException).
        fencing: Fencing::Token,
        refusals: Refusals::Told,
        // `session.timeout.ms`: 45000.
        crash: Crash::AfterSession(45 * SECOND),
        // A record says nothing of reads before.
        flag: RedeliveredFlag::Absent,
        // From the committed offset on.
        nacked: Order::Place,
        lost: Order::Place,
        // There is no delay per record: a consumer pauses the partition.
        delayed: Delayed::Broker,
        // `acks=all`; the idempotent producer knows only what it sends again itself.
        confirm: Confirm::Synced,
        dedup: None,
        // `num.partitions`: 1.
        partitions: Some(1),
        ..Rules::default()
    },
};

/// A consumer group on a stream, with XAUTOCLAIM.
pub const REDIS_STREAMS: Profile = Profile {
    name: "redis-streams",
    of: "Redis 7.0 documentation, Streams, XAUTOCLAIM, Persistence",
    rules: || Rules {
        // There is no default: claimed by whoever asks for what has been idle for so long. The
        // documentation's example claims after an hour; here one minute. XCLAIM JUSTID renews.
        redelivery: after(MINUTE),
        // XACK goes by the id of the entry.
        fencing: Fencing::Off,
        // XACK answers how many were pending.
        refusals: Refusals::Told,
        // XPENDING counts deliveries; XREADGROUP says nothing.
        flag: RedeliveredFlag::Absent,
        lost: Order::Front,
        nacked: Order::Front,
        // `appendfsync everysec`.
        confirm: Confirm::Written,
        fsync_every: Some(SECOND),
        ..Rules::default()
    },
};
