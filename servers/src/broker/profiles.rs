//! Products as rows of a table. Beside each number stands where it is from.

use super::rules::{
    Confirm, Counts, Crash, DedupBy, DedupRules, DedupScope, Delayed, Fencing, GivesUp, Order,
    RedeliveredFlag, Redelivery, Refusals, Rules, StaleTag, Then,
};
use crate::Ms;

const SECOND: Ms = 1000;
const MINUTE: Ms = 60 * SECOND;
const HOUR: Ms = 60 * MINUTE;

/// A product, or a kind of broker.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// As a scenario names it.
    pub name: &'static str,
    /// Which product, of which version, by its documentation.
    pub of: &'static str,
    rules: fn() -> Rules,
}

impl Profile {
    /// What it promises.
    pub fn rules(&self) -> Rules {
        (self.rules)()
    }
}

/// All of them.
pub const ALL: [Profile; 18] = [
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    RABBITMQ_CLASSIC,
    RABBITMQ_QUORUM_3,
    RABBITMQ_QUORUM_4_3,
    NATS_JETSTREAM,
    SQS_STANDARD,
    SQS_FIFO,
    PUBSUB,
    PUBSUB_EXACTLY_ONCE,
    SERVICE_BUS,
    KAFKA,
    REDIS_STREAMS,
    CELERY_REDIS,
    BULLMQ,
    SIDEKIQ_BASIC,
    SIDEKIQ_RELIABLE,
    PG_SKIP_LOCKED,
];

/// The profile of this name.
pub fn named(name: &str) -> Option<&'static Profile> {
    ALL.iter().find(|profile| profile.name == name)
}

const fn after(time: Ms) -> Redelivery {
    Redelivery {
        after: Some(time),
        backoff: Vec::new(),
        checked_every: None,
        closes: false,
        not_renewable: false,
        renewed_every: None,
    }
}

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

/// Celery with the Redis transport and late acks.
pub const CELERY_REDIS: Profile = Profile {
    name: "celery-redis",
    of: "Celery 5 documentation, Using Redis, Configuration (acks_late); kombu 5 redis transport",
    rules: || Rules {
        // `visibility_timeout`: 1 hour; nothing extends it.
        redelivery: Redelivery {
            not_renewable: true,
            ..after(HOUR)
        },
        fencing: Fencing::Off,
        refusals: Refusals::Silent,
        // A worker that is killed leaves its messages to the timeout.
        crash: Crash::AtDeadline,
        // `delivery_info.redelivered` is set when a message is restored.
        flag: RedeliveredFlag::Hint,
        // `worker_prefetch_multiplier`: 4.
        prefetch: Some(4),
        // Tasks with an ETA wait in the memory of a worker, unsettled.
        delayed: Delayed::Worker,
        // `appendfsync everysec`.
        confirm: Confirm::Written,
        fsync_every: Some(SECOND),
        ..Rules::default()
    },
};

/// BullMQ.
pub const BULLMQ: Profile = Profile {
    name: "bullmq",
    of: "BullMQ 5 documentation, Stalled jobs, Workers; WorkerOptions",
    rules: || Rules {
        redelivery: Redelivery {
            // `lockDuration`: 30 s, renewed at half of it; stalled jobs are looked for every
            // `stalledInterval`: 30 s.
            checked_every: Some(30 * SECOND),
            // `lockRenewTime`: half of `lockDuration`.
            renewed_every: Some(15 * SECOND),
            ..after(30 * SECOND)
        },
        // `maxStalledCount`: 1, then the job has failed.
        max_deliver: Some(2),
        then: Then::DeadLetter,
        // Retries and delays do not count as stalled.
        counts: Counts {
            nack: false,
            deadline: true,
            disconnect: true,
        },
        // The token of the lock: "Missing lock for job".
        fencing: Fencing::Token,
        refusals: Refusals::Told,
        // `jobId`: a job that exists is not added again, for as long as it exists. Off without one.
        dedup: None,
        // `stalledCounter`, `attemptsMade`.
        flag: RedeliveredFlag::Exact,
        lost: Order::Front,
        // `appendfsync everysec`.
        confirm: Confirm::Written,
        fsync_every: Some(SECOND),
        ..Rules::default()
    },
};

/// Sidekiq's basic fetch.
pub const SIDEKIQ_BASIC: Profile = Profile {
    name: "sidekiq-basic",
    of: "Sidekiq 7 wiki, Reliability, Error Handling",
    rules: || Rules {
        // BRPOP takes a job out of Redis: a process that dies takes it along. A job that is to be
        // retried is pushed into the retry set by its process.
        settled_on_delivery: true,
        puts_back: true,
        // There is nothing to acknowledge.
        fencing: Fencing::Token,
        refusals: Refusals::Silent,
        flag: RedeliveredFlag::Absent,
        // `appendfsync everysec`.
        confirm: Confirm::Written,
        fsync_every: Some(SECOND),
        counts: Counts {
            nack: false,
            ..Counts::default()
        },
        ..Rules::default()
    },
};

/// Sidekiq Pro's super_fetch.
pub const SIDEKIQ_RELIABLE: Profile = Profile {
    name: "sidekiq-reliable",
    of: "Sidekiq Pro 7 wiki, Reliability (super_fetch)",
    rules: || Rules {
        // No deadline while the process lives. Orphans are found once its heartbeat has been away
        // for 60 s.
        crash: Crash::AfterSession(MINUTE),
        // "Poison pills": three recoveries within 72 hours, then the dead set.
        max_deliver: Some(3),
        then: Then::DeadLetter,
        counts: Counts {
            nack: false,
            deadline: true,
            disconnect: true,
        },
        fencing: Fencing::Off,
        flag: RedeliveredFlag::Absent,
        lost: Order::Front,
        // `appendfsync everysec`.
        confirm: Confirm::Written,
        fsync_every: Some(SECOND),
        ..Rules::default()
    },
};

/// A table, read with SELECT ... FOR UPDATE SKIP LOCKED in the transaction that does the work.
pub const PG_SKIP_LOCKED: Profile = Profile {
    name: "pg-skip-locked",
    of: "PostgreSQL 15 documentation, The Locking Clause, Asynchronous Commit",
    rules: || Rules {
        // The row lock goes with the transaction: no deadline, and back when the connection ends.
        crash: Crash::OnDisconnect,
        // Whoever's transaction is gone can commit nothing.
        fencing: Fencing::Token,
        refusals: Refusals::Told,
        // A transaction that rolls back leaves no trace.
        flag: RedeliveredFlag::Absent,
        nacked: Order::Place,
        lost: Order::Place,
        // `synchronous_commit = on`.
        confirm: Confirm::Synced,
        ..Rules::default()
    },
};
