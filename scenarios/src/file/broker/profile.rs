//! Which product a broker behaves like. The numbers of each are in
//! [`servers::broker::profiles`], with their sources.

use serde::{Deserialize, Serialize};

/// What kind of broker it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokerProfile {
    /// A message stays until a consumer settles it (Pub/Sub, SQS, JetStream, RabbitMQ with acks).
    #[default]
    AtLeastOnce,
    /// A message counts as settled the moment it is handed over, and is kept in memory only (core
    /// NATS, Redis pub/sub, automatic acks).
    AtMostOnce,
    /// RabbitMQ's classic queues.
    RabbitmqClassic,
    /// RabbitMQ's quorum queues under the rules of 3.x.
    RabbitmqQuorum,
    /// RabbitMQ's quorum queues under the rules of 4.3.
    #[serde(rename = "rabbitmq-quorum-4.3")]
    RabbitmqQuorum43,
    /// NATS JetStream, a pull consumer with explicit acks.
    NatsJetstream,
    /// Amazon SQS, a standard queue.
    SqsStandard,
    /// Amazon SQS, a FIFO queue; each run is a message group of its own.
    SqsFifo,
    /// Google Cloud Pub/Sub, a pull subscription.
    Pubsub,
    /// The same with exactly-once delivery.
    PubsubExactlyOnce,
    /// Azure Service Bus, peek-lock.
    ServiceBus,
    /// Apache Kafka, a consumer group that commits each record.
    Kafka,
    /// Redis Streams with XAUTOCLAIM.
    RedisStreams,
    /// Celery on Redis with late acks.
    CeleryRedis,
    /// BullMQ.
    Bullmq,
    /// Sidekiq's basic fetch.
    SidekiqBasic,
    /// Sidekiq Pro's super_fetch.
    SidekiqReliable,
    /// A table in PostgreSQL, read with SKIP LOCKED in the transaction that does the work.
    PgSkipLocked,
}

impl BrokerProfile {
    /// All of them.
    pub const ALL: [BrokerProfile; 18] = [
        BrokerProfile::AtLeastOnce,
        BrokerProfile::AtMostOnce,
        BrokerProfile::RabbitmqClassic,
        BrokerProfile::RabbitmqQuorum,
        BrokerProfile::RabbitmqQuorum43,
        BrokerProfile::NatsJetstream,
        BrokerProfile::SqsStandard,
        BrokerProfile::SqsFifo,
        BrokerProfile::Pubsub,
        BrokerProfile::PubsubExactlyOnce,
        BrokerProfile::ServiceBus,
        BrokerProfile::Kafka,
        BrokerProfile::RedisStreams,
        BrokerProfile::CeleryRedis,
        BrokerProfile::Bullmq,
        BrokerProfile::SidekiqBasic,
        BrokerProfile::SidekiqReliable,
        BrokerProfile::PgSkipLocked,
    ];

    /// As a scenario file says it.
    pub const fn name(self) -> &'static str {
        match self {
            BrokerProfile::AtLeastOnce => "at-least-once",
            BrokerProfile::AtMostOnce => "at-most-once",
            BrokerProfile::RabbitmqClassic => "rabbitmq-classic",
            BrokerProfile::RabbitmqQuorum => "rabbitmq-quorum",
            BrokerProfile::RabbitmqQuorum43 => "rabbitmq-quorum-4.3",
            BrokerProfile::NatsJetstream => "nats-jetstream",
            BrokerProfile::SqsStandard => "sqs-standard",
            BrokerProfile::SqsFifo => "sqs-fifo",
            BrokerProfile::Pubsub => "pubsub",
            BrokerProfile::PubsubExactlyOnce => "pubsub-exactly-once",
            BrokerProfile::ServiceBus => "service-bus",
            BrokerProfile::Kafka => "kafka",
            BrokerProfile::RedisStreams => "redis-streams",
            BrokerProfile::CeleryRedis => "celery-redis",
            BrokerProfile::Bullmq => "bullmq",
            BrokerProfile::SidekiqBasic => "sidekiq-basic",
            BrokerProfile::SidekiqReliable => "sidekiq-reliable",
            BrokerProfile::PgSkipLocked => "pg-skip-locked",
        }
    }
}
