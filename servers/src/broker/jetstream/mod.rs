//! NATS JetStream as a client sees it: a stream, and consumers that each walk it on their own.
//!
//! Each consumer is a [`Broker`] over the sequence numbers of the stream, under the rules of the
//! profile `nats-jetstream`; what is added here is what a stream knows: the ids of publishes, what
//! it keeps, and the numbers that `consumer info` shows.

mod consumer;

use super::rules::{DedupRules, Redelivery, Rules};
use super::{Broker, Dedup, Outage, Receipt, State, profiles};
use crate::Ms;
use crate::broken::broken;
use consumer::Consumer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a stream keeps a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Retention {
    /// As long as there is room.
    #[default]
    Limits,
    /// Until a consumer has acked it.
    WorkQueue,
    /// Until every consumer has acked it.
    Interest,
}

/// When a consumer counts a message as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AckPolicy {
    /// When it is acked.
    #[default]
    Explicit,
    /// When it or one after it is acked.
    All,
    /// When it is sent.
    None,
}

/// How a stream is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// `duplicate_window`.
    pub duplicate_window: Ms,
    /// `retention`.
    pub retention: Retention,
    /// Whether it is kept in memory only.
    pub in_memory: bool,
}

impl Default for StreamConfig {
    /// A window of two minutes, limits, files.
    fn default() -> Self {
        let dedup = profiles::NATS_JETSTREAM.rules().dedup;
        StreamConfig {
            duplicate_window: dedup.map_or(0, |dedup: DedupRules| dedup.window),
            retention: Retention::Limits,
            in_memory: false,
        }
    }
}

/// How a consumer is made.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConsumerConfig {
    /// `ack_wait`; the server's default is 30 s.
    pub ack_wait: Option<Ms>,
    /// `backoff`: in place of `ack_wait`, by number of the delivery.
    pub backoff: Vec<Ms>,
    /// `max_deliver`.
    pub max_deliver: Option<u32>,
    /// `max_ack_pending`; the server's default is 1000.
    pub max_ack_pending: Option<u32>,
    /// `ack_policy`.
    pub ack_policy: AckPolicy,
}

/// What the server says of a publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PubAck {
    /// The sequence number of the message that stands for it.
    pub seq: u64,
    /// Whether that was accepted earlier.
    pub duplicate: bool,
}

/// One delivery, and what its reply subject says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched<B> {
    /// The place in the stream, from 1.
    pub seq: u64,
    /// What it says.
    pub body: B,
    /// Which delivery of this consumer it is, from 1.
    pub num_delivered: u32,
    /// Its reply subject.
    pub reply: Reply,
}

/// The subject that a consumer answers to: it names a message and a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    receipt: Receipt,
    /// The number of the delivery among all of the consumer.
    consumer_seq: u64,
}

/// What `consumer info` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerInfo {
    /// Messages that were never delivered.
    pub num_pending: u64,
    /// Messages delivered and not acked.
    pub num_ack_pending: u64,
    /// Messages delivered more than once, or given up, and not acked.
    pub num_redelivered: u64,
    /// Up to here all is acked.
    pub ack_floor: u64,
    /// The last message that was delivered.
    pub delivered: u64,
}

/// What `stream info` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// Messages that are there.
    pub messages: u64,
    /// The first of them; one more than the last number if there is none.
    pub first_seq: u64,
    /// The number of the last message that was ever accepted.
    pub last_seq: u64,
}

/// A stream with its consumers.
pub struct Stream<B> {
    config: StreamConfig,
    log: Vec<Option<B>>,
    dedup: Dedup<Arc<str>>,
    consumers: BTreeMap<String, Consumer>,
}

impl<B: Clone> Stream<B> {
    /// Empty.
    pub fn new(config: StreamConfig) -> Self {
        Stream {
            config,
            log: Vec::new(),
            dedup: Dedup::default(),
            consumers: BTreeMap::new(),
        }
    }

    /// Makes a consumer that starts with the first message that is there.
    pub fn add_consumer(&mut self, now: Ms, name: &str, config: &ConsumerConfig) {
        if self.consumers.contains_key(name) {
            return;
        }
        let base = profiles::NATS_JETSTREAM.rules();
        let rules = Rules {
            redelivery: Redelivery {
                after: config.ack_wait.or(base.redelivery.after),
                backoff: config.backoff.clone(),
                ..base.redelivery
            },
            max_deliver: config.max_deliver,
            max_unsettled: config.max_ack_pending.or(base.max_unsettled),
            settled_on_delivery: config.ack_policy == AckPolicy::None,
            dedup: None,
            ..base
        };
        let mut consumer = Consumer {
            queue: Broker::new(rules),
            policy: config.ack_policy,
            next: 1,
            counted_as: BTreeMap::new(),
            floor: (0, 0),
            delivered: 0,
        };
        for (seq, message) in (1..).zip(&self.log) {
            if message.is_some() {
                consumer.queue.publish(now, seq, None);
            }
        }
        self.consumers.insert(name.to_owned(), consumer);
    }

    /// Stores a message, unless its id (`Nats-Msg-Id`) is known. The body is never compared.
    pub fn publish(&mut self, now: Ms, body: B, id: Option<Arc<str>>) -> PubAck {
        let seq = self.log.len() as u64 + 1;
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            self.dedup.forget(now, self.config.duplicate_window);
            if let Some(known) = self.dedup.find(now, &id, 0) {
                return PubAck {
                    seq: known.into(),
                    duplicate: true,
                };
            }
            self.dedup
                .remember(now, id, 0, u32::try_from(seq).unwrap_or(u32::MAX));
        }
        self.log.push(Some(body));
        for consumer in self.consumers.values_mut() {
            consumer.queue.publish(now, seq, None);
        }
        if self.config.retention == Retention::Interest && self.consumers.is_empty() {
            self.remove(seq);
        }
        PubAck {
            seq,
            duplicate: false,
        }
    }

    /// Asks a consumer for one message, now.
    pub fn fetch(&mut self, now: Ms, name: &str) -> Option<Fetched<B>> {
        self.advance(now);
        loop {
            let consumer = self.consumers.get_mut(name)?;
            let delivery = consumer.queue.take(now, 0)?;
            let seq = delivery.body;
            let at = usize::try_from(seq - 1).unwrap_or(usize::MAX);
            let Some(body) = self.log.get(at).and_then(Clone::clone) else {
                // Removed from the stream in the meantime.
                consumer.queue.ack(delivery.receipt);
                continue;
            };
            let consumer_seq = consumer.next;
            consumer.next += 1;
            consumer.counted_as.entry(seq).or_insert(consumer_seq);
            consumer.delivered = consumer.delivered.max(seq);
            if consumer.policy == AckPolicy::None {
                consumer.floor = (consumer_seq, seq);
                self.settled(seq);
            }
            return Some(Fetched {
                seq,
                body,
                num_delivered: delivery.count,
                reply: Reply {
                    receipt: delivery.receipt,
                    consumer_seq,
                },
            });
        }
    }

    /// `+ACK`. Whose delivery it is does not matter.
    pub fn ack(&mut self, now: Ms, name: &str, reply: Reply) {
        self.advance(now);
        let Some(consumer) = self.consumers.get_mut(name) else {
            return;
        };
        for seq in consumer.ack(now, reply) {
            self.settled(seq);
        }
    }

    /// `+TERM`: never again. To the consumer it is an ack.
    pub fn term(&mut self, now: Ms, name: &str, reply: Reply) {
        self.ack(now, name, reply);
    }

    /// `-NAK`: again, at once or after a delay.
    pub fn nak(&mut self, now: Ms, name: &str, reply: Reply, delay: Option<Ms>) {
        self.advance(now);
        let Some(consumer) = self.consumers.get_mut(name) else {
            return;
        };
        if consumer.is_settled(reply) {
            return;
        }
        match delay.filter(|delay| *delay > 0) {
            None => drop(consumer.queue.nack(now, reply.receipt)),
            Some(delay) => {
                // The server sets the clock of the delivery back by `ack_wait` and forward by the
                // delay, and then waits what the backoff says of this delivery.
                let redelivery = &consumer.queue.rules().redelivery;
                let deliveries = consumer.deliveries(reply);
                let wait = redelivery.length(deliveries).unwrap_or(0);
                let first = redelivery.length(1).unwrap_or(0);
                consumer
                    .queue
                    .defer(now, reply.receipt, (delay + wait).saturating_sub(first));
            }
        }
    }

    /// `+WPI`: the deadline starts anew.
    pub fn in_progress(&mut self, now: Ms, name: &str, reply: Reply) {
        self.advance(now);
        if let Some(consumer) = self.consumers.get_mut(name) {
            consumer.queue.renew(now, reply.receipt);
        }
    }

    /// When something happens next by itself.
    pub fn due(&self) -> Option<Ms> {
        self.consumers
            .values()
            .filter_map(|consumer| consumer.queue.due())
            .min()
    }

    /// Lets happen what is due by `now`.
    pub fn advance(&mut self, now: Ms) {
        for consumer in self.consumers.values_mut() {
            consumer.queue.expire(now);
        }
    }

    /// The server stops and starts again. Deadlines go on; connections do not matter.
    pub fn restart(&mut self, now: Ms, outage: Outage) {
        if self.config.in_memory {
            self.log.clear();
            self.dedup.clear();
            self.consumers.clear();
            return;
        }
        for consumer in self.consumers.values_mut() {
            consumer.queue.go_down(now, outage);
            consumer.queue.come_up();
        }
    }

    /// Whether there is such a consumer.
    pub fn has_consumer(&self, name: &str) -> bool {
        self.consumers.contains_key(name)
    }

    /// Removes a consumer with all that it knew.
    pub fn delete_consumer(&mut self, name: &str) -> bool {
        self.consumers.remove(name).is_some()
    }

    /// Removes every message.
    pub fn purge(&mut self) {
        for seq in 1..=self.log.len() as u64 {
            self.remove(seq);
        }
    }

    /// What `consumer info` shows.
    pub fn consumer_info(&mut self, now: Ms, name: &str) -> Option<ConsumerInfo> {
        self.advance(now);
        let consumer = self.consumers.get(name)?;
        let count = |test: fn(&super::Message<u64>) -> bool| {
            consumer
                .queue
                .messages()
                .iter()
                .filter(|message| test(message))
                .count() as u64
        };
        let again = |message: &super::Message<u64>| match message.state {
            State::Kept => true,
            State::Settled => false,
            _ => message.deliveries > 1,
        };
        Some(ConsumerInfo {
            num_pending: count(|message| message.deliveries == 0 && !message.is_over()),
            num_ack_pending: consumer.queue.unsettled() as u64,
            num_redelivered: count(again),
            ack_floor: consumer.floor.1,
            delivered: consumer.delivered,
        })
    }

    /// What `stream info` shows.
    pub fn stream_info(&self) -> StreamInfo {
        let there = self.log.iter().flatten().count() as u64;
        let last_seq = self.log.len() as u64;
        let first = self.log.iter().position(Option::is_some);
        StreamInfo {
            messages: there,
            first_seq: first.map_or(last_seq + 1, |at| at as u64 + 1),
            last_seq,
        }
    }

    /// A consumer is done with a message.
    fn settled(&mut self, seq: u64) {
        let all = || {
            self.consumers.values().all(|consumer| {
                let mut messages = consumer.queue.messages().iter();
                messages.all(|message| message.body != seq || message.state == State::Settled)
            })
        };
        match self.config.retention {
            Retention::Limits => {}
            Retention::WorkQueue => self.remove(seq),
            Retention::Interest if all() => self.remove(seq),
            Retention::Interest => {}
        }
    }

    fn remove(&mut self, seq: u64) {
        if let Some(message) = self.log.get_mut(seq as usize - 1) {
            *message = None;
        }
        for consumer in self.consumers.values_mut() {
            consumer.queue.settle_quietly(|body| *body == seq);
        }
        // What was consumed is remembered all the same.
        if broken!(DedupForgetsConsumed) {
            self.dedup
                .forget_messages(|message| u64::from(message) == seq);
        }
    }
}
