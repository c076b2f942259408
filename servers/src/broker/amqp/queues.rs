//! Queues: their kinds, what is routed to them, and where their dead letters go.

use super::super::delivering::GivenUp;
use super::super::rules::{Order, Rules};
use super::super::{Broker, Holder, Publish, State, profiles};
use super::consumers::Consumer;
use super::{Closed, Properties, Routed, Server};
use crate::Ms;
use crate::broken::broken;
use std::collections::VecDeque;

/// What kind a queue is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// One node; a message that comes back goes to its old place.
    #[default]
    Classic,
    /// Replicated; it counts deliveries.
    Quorum,
}

/// How a queue is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueArguments {
    /// `x-queue-type`.
    pub kind: Kind,
    /// Whether it outlives a restart.
    pub durable: bool,
    /// `x-dead-letter-exchange`; only the default exchange has a name that leads anywhere.
    pub dead_letter_exchange: Option<String>,
    /// `x-dead-letter-routing-key`.
    pub dead_letter_routing_key: Option<String>,
    /// `x-delivery-limit`, quorum only.
    pub delivery_limit: Option<u32>,
    /// `x-message-ttl`.
    pub message_ttl: Option<Ms>,
    /// `x-max-length`; the oldest goes.
    pub max_length: Option<u32>,
}

impl Default for QueueArguments {
    fn default() -> Self {
        QueueArguments {
            kind: Kind::Classic,
            durable: true,
            dead_letter_exchange: None,
            dead_letter_routing_key: None,
            delivery_limit: None,
            message_ttl: None,
            max_length: None,
        }
    }
}

/// Why a queue gave a message up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeadReason {
    /// A consumer did not want it back in the queue.
    Rejected,
    /// It was worth nothing any more.
    Expired,
    /// The queue was full.
    MaxLen,
    /// It was delivered too often.
    DeliveryLimit,
}

impl DeadReason {
    /// As `x-death` says it.
    pub const fn name(self) -> &'static str {
        match self {
            DeadReason::Rejected => "rejected",
            DeadReason::Expired => "expired",
            DeadReason::MaxLen => "maxlen",
            DeadReason::DeliveryLimit => "delivery_limit",
        }
    }
}

/// How often a queue gave a message up for one reason: an entry of `x-death`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// The queue.
    pub queue: String,
    /// Why.
    pub reason: DeadReason,
    /// How often.
    pub count: u32,
}

/// What a queue keeps of a message.
#[derive(Clone, Debug)]
pub(super) struct Stored<B> {
    pub(super) body: B,
    pub(super) deaths: Vec<Death>,
    routing_key: String,
    persistent: bool,
}

pub(super) struct Queue<B> {
    pub(super) broker: Broker<(), Stored<B>>,
    pub(super) arguments: QueueArguments,
    /// Those that may get the next message, in turn.
    pub(super) consumers: VecDeque<Consumer>,
}

impl<B: Clone> Queue<B> {
    pub(super) fn due(&self) -> Option<Ms> {
        let head = self.broker.waiting().next();
        let expires = head.and_then(|place| self.broker.message(place)?.expires);
        [self.broker.due(), expires].into_iter().flatten().min()
    }

    pub(super) fn is_dead(&self, place: u32) -> bool {
        self.broker
            .message(place)
            .is_some_and(|message| message.state == State::Dead)
    }
}

impl<B: Clone> Server<B> {
    /// Declares a queue.
    ///
    /// # Errors
    ///
    /// The queue is there and was declared otherwise: the channel is closed.
    pub fn declare(
        &mut self,
        now: Ms,
        holder: Holder,
        name: &str,
        arguments: QueueArguments,
    ) -> Result<(), Closed> {
        self.session(holder)?;
        if let Some(queue) = self.queues.get(name) {
            if queue.arguments == arguments {
                return Ok(());
            }
            return self.refuse(now, holder, Closed::PreconditionFailed);
        }
        let rules = self.rules(&arguments);
        let queue = Queue {
            broker: Broker::new(rules),
            arguments,
            consumers: VecDeque::new(),
        };
        self.queues.insert(name.to_owned(), queue);
        Ok(())
    }

    fn rules(&self, arguments: &QueueArguments) -> Rules {
        let limit = arguments.delivery_limit;
        let rules = match arguments.kind {
            Kind::Classic => profiles::RABBITMQ_CLASSIC.rules(),
            // Without a limit a nacked message is written anew, at the end of the log; with one it
            // must not start anew, and stays before all that were never delivered.
            Kind::Quorum if limit.is_none() => profiles::RABBITMQ_QUORUM_3.rules(),
            Kind::Quorum => Rules {
                nacked: Order::Front,
                ..profiles::RABBITMQ_QUORUM_3.rules()
            },
        };
        let nacked = match arguments.kind {
            Kind::Classic if broken!(ClassicNackToTheBack) => Order::Back,
            Kind::Quorum if broken!(QuorumNackToTheFront) => Order::Front,
            _ => rules.nacked,
        };
        Rules {
            redelivery: self.timeout.clone(),
            // The limit counts what comes after the first delivery.
            max_deliver: limit.map(|limit| limit + 1),
            nacked,
            ..rules
        }
    }

    /// Publishes to the default exchange, which routes by the name of the queue.
    ///
    /// # Errors
    ///
    /// The channel is not open.
    pub fn publish(
        &mut self,
        now: Ms,
        holder: Holder,
        queue: &str,
        body: B,
        properties: Properties,
    ) -> Result<Routed, Closed> {
        self.session(holder)?;
        let stored = Stored {
            body,
            deaths: Vec::new(),
            routing_key: queue.to_owned(),
            persistent: properties.persistent,
        };
        Ok(self.enqueue(now, queue, stored, properties.ttl))
    }

    fn enqueue(&mut self, now: Ms, name: &str, stored: Stored<B>, ttl: Option<Ms>) -> Routed {
        let Some(queue) = self.queues.get_mut(name) else {
            return Routed::Nowhere;
        };
        let ttl = [ttl, queue.arguments.message_ttl]
            .into_iter()
            .flatten()
            .min();
        let publish = Publish {
            // A quorum queue writes everything down.
            persistent: stored.persistent || queue.arguments.kind == Kind::Quorum,
            expires: ttl.map(|ttl| now + ttl),
            ..Publish::default()
        };
        queue.broker.publish_with(now, stored, publish);
        self.dispatch(now, name);
        self.expire_messages(now, name);
        self.shorten(now, name);
        Routed::Queued
    }

    fn shorten(&mut self, now: Ms, name: &str) {
        while let Some(queue) = self.queues.get_mut(name) {
            let most = queue
                .arguments
                .max_length
                .map_or(usize::MAX, |most| most as usize);
            if queue.broker.waiting().count() <= most {
                return;
            }
            let Some(place) = queue.broker.drop_head() else {
                return;
            };
            self.dead_letter(now, name, place, DeadReason::MaxLen);
        }
    }

    /// Lets go what has outlived its worth at the head of a queue.
    pub(super) fn expire_messages(&mut self, now: Ms, name: &str) {
        let Some(queue) = self.queues.get_mut(name) else {
            return;
        };
        for place in queue.broker.drop_expired(now) {
            self.dead_letter(now, name, place, DeadReason::Expired);
        }
    }

    pub(super) fn dead_letter_all(
        &mut self,
        now: Ms,
        name: &str,
        given_up: Vec<GivenUp>,
        reason: DeadReason,
    ) {
        for given_up in given_up {
            self.dead_letter(now, name, given_up.message(), reason);
        }
    }

    /// A queue has given a message up: a copy goes where its dead letters go, if that is anywhere.
    pub(super) fn dead_letter(&mut self, now: Ms, name: &str, place: u32, reason: DeadReason) {
        let Some(queue) = self.queues.get(name) else {
            return;
        };
        let (Some(message), Some("")) = (
            queue.broker.message(place),
            queue.arguments.dead_letter_exchange.as_deref(),
        ) else {
            return;
        };
        let mut stored = message.body.clone();
        if let Some(key) = &queue.arguments.dead_letter_routing_key {
            stored.routing_key.clone_from(key);
        }
        let before = stored.deaths.iter();
        let same = before
            .clone()
            .position(|death| death.queue == name && death.reason == reason);
        let count = same.map_or(0, |at| stored.deaths.remove(at).count) + 1;
        stored.deaths.insert(
            0,
            Death {
                queue: name.to_owned(),
                reason,
                count,
            },
        );
        let to = stored.routing_key.clone();
        // Round and round without anybody rejecting it: the message is dropped.
        if reason != DeadReason::Rejected && is_cycle(&to, &stored.deaths) {
            return;
        }
        self.enqueue(now, &to, stored, None);
    }

    /// Removes a queue with all that is in it.
    pub fn delete(&mut self, name: &str) {
        self.queues.remove(name);
        for session in self.sessions.values_mut() {
            session.channel.retain(|out| out.queue != name);
        }
    }

    /// Drops what waits in a queue, and says how many that were.
    pub fn purge(&mut self, name: &str) -> usize {
        let Some(queue) = self.queues.get_mut(name) else {
            return 0;
        };
        std::iter::from_fn(|| queue.broker.drop_head()).count()
    }

    /// What waits in a queue, in the order in which it would be handed over; `None`: no such queue.
    pub fn waiting(&self, name: &str) -> Option<Vec<B>> {
        let queue = self.queues.get(name)?;
        let body = |place| {
            queue
                .broker
                .message(place)
                .map(|message| message.body.body.clone())
        };
        Some(queue.broker.waiting().filter_map(body).collect())
    }
}

fn is_cycle(to: &str, deaths: &[Death]) -> bool {
    match deaths.iter().position(|death| death.queue == to) {
        Some(at) => deaths[..=at]
            .iter()
            .all(|death| death.reason != DeadReason::Rejected),
        None => false,
    }
}
