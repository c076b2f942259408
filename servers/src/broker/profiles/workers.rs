//! Libraries that make a queue of a store: Celery, BullMQ, Sidekiq, rows of a table.

use super::super::rules::{
    Confirm, Counts, Crash, Delayed, Fencing, Order, RedeliveredFlag, Redelivery, Refusals, Rules,
    Then,
};
use super::{HOUR, MINUTE, Profile, SECOND, after};

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
