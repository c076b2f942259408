//! Products as rows of a table. Beside each number stands where it is from.

mod cloud;
mod logs;
mod plain;
mod rabbitmq;
mod workers;

pub use cloud::{PUBSUB, PUBSUB_EXACTLY_ONCE, SERVICE_BUS, SQS_FIFO, SQS_STANDARD};
pub use logs::{KAFKA, NATS_JETSTREAM, REDIS_STREAMS};
pub use plain::{AT_LEAST_ONCE, AT_MOST_ONCE};
pub use rabbitmq::{RABBITMQ_CLASSIC, RABBITMQ_QUORUM_3, RABBITMQ_QUORUM_4_3};
pub use workers::{BULLMQ, CELERY_REDIS, PG_SKIP_LOCKED, SIDEKIQ_BASIC, SIDEKIQ_RELIABLE};

use super::rules::{Redelivery, Rules};
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
