//! RabbitMQ as an AMQP 0-9-1 client sees it: queues, channels, delivery tags, dead letters.
//!
//! Each queue is a [`Broker`](super::Broker) under the rules of its kind; what is added here is what goes beyond
//! one queue: the tags of a channel, the credit of consumers, routing by the default exchange, and
//! what a broken rule of the protocol costs, which is the whole channel.

mod consumers;
mod queues;
mod settling;

pub use queues::{DeadReason, Death, Kind, QueueArguments};

use super::rules::Redelivery;
use super::{Channel, Holder, Outage, Receipt, State};
use crate::Ms;
use crate::broken::broken;
use queues::Queue;
use std::collections::{BTreeMap, VecDeque};

/// Why the server closed a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// 406: an unknown tag, a queue that is another than was said, a delivery unsettled too long.
    PreconditionFailed,
    /// 404: no such queue.
    NotFound,
    /// It is not open: the client closed it, or its connection is gone.
    NotOpen,
}

/// A message on its way to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered<B> {
    /// The delivery tag.
    pub tag: u64,
    /// What it says.
    pub body: B,
    /// Whether it was handed out before.
    pub redelivered: bool,
    /// `x-delivery-count`: quorum queues only.
    pub delivery_count: Option<u32>,
    /// `x-death`: the queues that gave it up, the last one first.
    pub deaths: Vec<Death>,
}

/// What a publish came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routed {
    /// It is in a queue.
    Queued,
    /// There is no such queue: it is gone, and a confirm says that all is well.
    Nowhere,
}

/// What a publisher says of a message beside its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// `delivery_mode` 2.
    pub persistent: bool,
    /// `expiration`.
    pub ttl: Option<Ms>,
}

impl Default for Properties {
    fn default() -> Self {
        Properties {
            persistent: true,
            ttl: None,
        }
    }
}

/// What an unsettled tag stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    queue: String,
    receipt: Receipt,
    /// Whose credit it uses.
    consumer: Option<u32>,
}

/// One channel of one client.
struct Session<B> {
    channel: Channel<Out>,
    /// Why it is closed.
    closed: Option<Closed>,
    since: Ms,
    /// Deliveries that the client has not looked at.
    inbox: VecDeque<Delivered<B>>,
    /// How many deliveries a consumer that starts now may have unsettled; 0: any number.
    prefetch: u32,
}

/// A server.
pub struct Server<B> {
    queues: BTreeMap<String, Queue<B>>,
    sessions: BTreeMap<Holder, Session<B>>,
    consumers: u32,
    timeout: Redelivery,
}

impl<B: Clone> Server<B> {
    /// Without queues and channels. A delivery may stay unsettled for `consumer_timeout`, which is
    /// looked at every `tick`.
    pub fn new(consumer_timeout: Option<Ms>, tick: Ms) -> Self {
        let timeout = Redelivery {
            after: consumer_timeout,
            checked_every: Some(tick),
            closes: true,
            not_renewable: true,
            ..Redelivery::default()
        };
        Server {
            queues: BTreeMap::new(),
            sessions: BTreeMap::new(),
            consumers: 0,
            timeout,
        }
    }

    /// A client opens a channel, in place of the one that it had.
    pub fn open(&mut self, now: Ms, holder: Holder) {
        self.close(now, holder);
        let before = self.sessions.remove(&holder);
        let channel = before.map_or_else(Channel::default, |before| before.channel.reopened());
        self.sessions.insert(
            holder,
            Session {
                channel,
                closed: None,
                since: now,
                inbox: VecDeque::new(),
                prefetch: 0,
            },
        );
    }

    /// A channel is closed by its client, or its connection broke: what it held goes back.
    pub fn close(&mut self, now: Ms, holder: Holder) {
        self.end(now, holder, Closed::NotOpen);
    }

    /// Why a channel is not open; `None`: it is.
    pub fn closed(&self, holder: Holder) -> Option<Closed> {
        self.sessions
            .get(&holder)
            .map_or(Some(Closed::NotOpen), |session| session.closed)
    }

    /// Takes what has been delivered to a channel.
    pub fn inbox(&mut self, holder: Holder) -> Vec<Delivered<B>> {
        let session = self.sessions.get_mut(&holder);
        session.map_or_else(Vec::new, |session| session.inbox.drain(..).collect())
    }

    fn session(&mut self, holder: Holder) -> Result<&mut Session<B>, Closed> {
        match self.sessions.get_mut(&holder) {
            Some(session) => session.closed.map_or(Ok(session), |_| Err(Closed::NotOpen)),
            None => Err(Closed::NotOpen),
        }
    }

    /// Ends a channel: its consumers go, and what it held goes back.
    fn end(&mut self, now: Ms, holder: Holder, why: Closed) {
        let Some(session) = self.sessions.get_mut(&holder) else {
            return;
        };
        if session.closed.is_some() {
            return;
        }
        session.closed = Some(why);
        session.channel.retain(|_| false);
        let names: Vec<String> = self.queues.keys().cloned().collect();
        for name in names {
            let Some(queue) = self.queues.get_mut(&name) else {
                continue;
            };
            queue
                .consumers
                .retain(|consumer| consumer.channel != holder);
            let (given_up, _) = queue.broker.disconnect(now, |other| other == holder, true);
            self.dead_letter_all(now, &name, given_up, DeadReason::DeliveryLimit);
            self.dispatch(now, &name);
        }
    }

    /// The server closes a channel whose client broke a rule.
    fn refuse<T>(&mut self, now: Ms, holder: Holder, why: Closed) -> Result<T, Closed> {
        self.end(now, holder, why);
        Err(why)
    }

    /// When something happens next by itself.
    pub fn due(&self) -> Option<Ms> {
        self.queues.values().filter_map(Queue::due).min()
    }

    /// Lets happen what is due by `now`.
    pub fn advance(&mut self, now: Ms) {
        while let Some(at) = self.due().filter(|at| *at <= now) {
            let names: Vec<String> = self.queues.keys().cloned().collect();
            for name in names {
                self.expire_messages(at, &name);
                while let Some(holder) = self.overdue(at, &name) {
                    self.end(at, holder, Closed::PreconditionFailed);
                }
            }
        }
    }

    /// Who has had a delivery of this queue for too long.
    fn overdue(&self, now: Ms, queue: &str) -> Option<Holder> {
        self.queues
            .get(queue)?
            .broker
            .messages()
            .iter()
            .find_map(|message| match message.state {
                State::Unacked {
                    holder,
                    deadline: Some(deadline),
                } if deadline <= now => Some(holder),
                _ => None,
            })
    }

    /// The server stops and starts again: connections break, queues that are not durable and
    /// messages that are not persistent are gone.
    pub fn restart(&mut self, now: Ms) {
        for session in self.sessions.values_mut() {
            session.closed = Some(Closed::NotOpen);
            session.channel.retain(|_| false);
            session.inbox.clear();
        }
        self.queues
            .retain(|_, queue| queue.arguments.durable || broken!(TransientSurvives));
        let names: Vec<String> = self.queues.keys().cloned().collect();
        for name in names {
            let Some(queue) = self.queues.get_mut(&name) else {
                continue;
            };
            queue.consumers.clear();
            let lost = queue.broker.go_down(now, Outage::Process);
            queue.broker.come_up();
            let limit = lost
                .into_iter()
                .filter(|lost| queue.is_dead(lost.message()))
                .collect();
            self.dead_letter_all(now, &name, limit, DeadReason::DeliveryLimit);
        }
    }
}
