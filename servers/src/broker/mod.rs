//! A broker: what happens to a message between its publish and its settlement.
//!
//! What a broker promises is data ([`Rules`]), not code, and a product is a row of a table
//! ([`profiles`]). The same machine stands for all of them:
//!
//! ```text
//!  publish ──dedup──> Ready ──hand over──> Unacked ──ack──> Settled
//!                       ^                    │ nack, deadline, broken connection
//!                       │                    v
//!                       └─── Delayed <── (delivered often enough? ──> Dead, Dropped, Kept)
//! ```
//!
//! It has no clock: every call that needs it is told the time, in milliseconds, and [`Broker::due`]
//! says when something would happen by itself. A *holder* is whoever deliveries are with and goes
//! away as a whole: a process, or one channel of it. A *consumer* is whatever the driver hands a
//! message to, such as one long poll.
//!
//! Two protocols stand on it and say how a client sees it: [`amqp`] (queues, channels, delivery
//! tags) and [`jetstream`] (a stream and its consumers). Against the recordings of real servers
//! these two are held.
//!
//! ```
//! use runkey_servers::broker::{Broker, profiles};
//!
//! let mut queue: Broker<(), &str> = Broker::new(profiles::named("sqs-standard").unwrap().rules());
//! queue.publish(0, "pay", None);
//! let first = queue.take(0, 1).unwrap();
//! // Nobody settles it for 30 s: it is handed over again, and the first receipt does nothing.
//! queue.expire(30_000);
//! let second = queue.take(30_000, 2).unwrap();
//! assert_eq!((second.body, second.count), ("pay", 2));
//! queue.ack(first.receipt);
//! assert!(!queue.is_over(0));
//! queue.ack(second.receipt);
//! assert!(queue.is_over(0));
//! ```

pub mod amqp;
mod channel;
mod dedup;
mod delivering;
mod groups;
mod holding;
pub mod jetstream;
mod prefetching;
pub mod profiles;
mod publishing;
mod ready;
mod restarting;
pub mod rules;
mod settling;
#[cfg(test)]
mod tests;

pub use channel::{Channel, UnknownTag};
pub use dedup::Dedup;
pub use delivering::{Delivery, GivenUp, HandedOver, Prefetched, Weigh};
pub use publishing::{Accepted, Publish};
pub use restarting::Outage;
pub use rules::Rules;
pub use settling::Settling;

use crate::Ms;
use groups::Group;
use ready::Ready;
use std::collections::VecDeque;
use std::sync::Arc;

/// Whoever holds deliveries and goes away as a whole.
pub type Holder = u32;

/// The right to settle one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt {
    /// The place of the message, from 0, in the order of acceptance.
    pub message: u32,
    /// Which of its deliveries, from 1.
    pub delivery: u32,
}

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits to be handed over.
    Ready,
    /// Not before this time.
    Delayed(Ms),
    /// With a consumer.
    Unacked {
        /// With whom.
        holder: Holder,
        /// When it goes back; `None`: never by itself.
        deadline: Option<Ms>,
    },
    /// Deferred in the memory of a worker, as a delivery that nobody works on.
    Held {
        /// Of whom.
        holder: Holder,
        /// When the worker takes it up.
        until: Ms,
        /// When the broker gives it to another worker as well.
        deadline: Option<Ms>,
    },
    /// Done.
    Settled,
    /// Parked for a person.
    Dead,
    /// Gone.
    Dropped,
    /// Stored, and never delivered again.
    Kept,
}

/// A message that was accepted.
#[derive(Clone, Debug)]
pub struct Message<B> {
    /// What it says.
    pub body: B,
    /// Where it is.
    pub state: State,
    /// How often it was handed over.
    pub deliveries: u32,
    /// The deliveries that count towards the limit.
    counted: u32,
    /// The place of its last hand-over among all.
    handed: u64,
    /// Whether it outlives a restart where not all do.
    persistent: bool,
    accepted_at: Ms,
    /// When it was settled, if it was.
    settled_at: Ms,
    /// When it is not worth anything any more.
    expires: Option<Ms>,
    partition: u32,
    /// With how many workers it is at once beyond the first, each with a delivery of its own.
    copies: u32,
}

impl<B> Message<B> {
    /// Whether it will never be delivered again.
    pub const fn is_over(&self) -> bool {
        matches!(
            self.state,
            State::Settled | State::Dead | State::Dropped | State::Kept
        )
    }

    /// Deliveries that counted before the last hand-over.
    pub const fn counted(&self) -> u32 {
        self.counted
    }
}

/// One queue with its consumers. `C` is a consumer that waits, `B` what a message says.
#[derive(Clone, Debug)]
pub struct Broker<C, B> {
    rules: Rules,
    messages: Vec<Message<B>>,
    ready: Ready,
    consumers: VecDeque<C>,
    dedup: Dedup<Arc<str>>,
    buffered: VecDeque<Prefetched>,
    /// Those who prefetch, in the order in which they came.
    prefetchers: Vec<Holder>,
    group: Group,
    tags: settling::Tags,
    hand_overs: u64,
    /// While it is away.
    down: bool,
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// Empty.
    pub fn new(rules: Rules) -> Self {
        Broker {
            rules,
            messages: Vec::with_capacity(8),
            ready: Ready::with_capacity(8),
            consumers: VecDeque::with_capacity(8),
            dedup: Dedup::default(),
            buffered: VecDeque::new(),
            prefetchers: Vec::new(),
            group: Group::default(),
            tags: settling::Tags::default(),
            hand_overs: 0,
            down: false,
        }
    }

    /// Empty again, under these rules; what was allocated stays.
    pub fn reset(&mut self, rules: Rules) {
        self.rules = rules;
        self.messages.clear();
        self.ready.clear();
        self.consumers.clear();
        self.dedup.clear();
        self.buffered.clear();
        self.prefetchers.clear();
        self.group.clear();
        self.tags.clear();
        self.hand_overs = 0;
        self.down = false;
    }

    /// What it promises.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// All that was ever accepted, in this order.
    pub fn messages(&self) -> &[Message<B>] {
        &self.messages
    }

    /// The message at this place.
    pub fn message(&self, place: u32) -> Option<&Message<B>> {
        self.messages.get(place as usize)
    }

    /// Whether a message will never be delivered again.
    pub fn is_over(&self, place: u32) -> bool {
        self.message(place).is_none_or(Message::is_over)
    }

    /// Whether it is away.
    pub const fn is_down(&self) -> bool {
        self.down
    }

    /// The messages that wait to be handed over, in this order.
    pub fn waiting(&self) -> impl Iterator<Item = u32> {
        let ready = |place: &u32| {
            self.messages
                .get(*place as usize)
                .is_some_and(|message| message.state == State::Ready)
        };
        self.ready.iter().map(|(place, _)| place).filter(ready)
    }

    /// When something happens next by itself: a deadline, or the end of a delay.
    pub fn due(&self) -> Option<Ms> {
        let times = self
            .messages
            .iter()
            .filter_map(|message| match message.state {
                State::Delayed(until) => Some(until),
                State::Unacked { deadline, .. } => deadline,
                State::Held {
                    until, deadline, ..
                } => Some(deadline.map_or(until, |at| at.min(until))),
                _ => None,
            });
        times.min()
    }

    /// Lets happen what is due by `now`, in the order of the deadlines.
    pub fn expire(&mut self, now: Ms) -> Vec<GivenUp> {
        let mut given_up = Vec::new();
        while let Some(at) = self.due().filter(|at| *at <= now) {
            for place in 0..self.messages.len() {
                given_up.extend(self.expire_one(at, place as u32));
            }
        }
        given_up
    }

    fn expire_one(&mut self, now: Ms, place: u32) -> Vec<GivenUp> {
        let Some(message) = self.message(place) else {
            return Vec::new();
        };
        match message.state {
            State::Delayed(until) if until <= now => {
                self.available(now, place).into_iter().collect()
            }
            State::Unacked { .. } => self.deadline(now, place, message.deliveries),
            State::Held { until, .. } if until <= now => {
                self.available(now, place).into_iter().collect()
            }
            State::Held { .. } => self.deadline(now, place, message.deliveries),
            _ => Vec::new(),
        }
    }
}
