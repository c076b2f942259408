//! From a producer into the queue.

use super::rules::DedupBy;
use super::{Broker, Message, State};
use crate::Ms;
use std::sync::Arc;

/// What a producer says of a message beside its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publish {
    /// By what a repeated publish is recognised, if the broker goes by the producer's ids.
    pub id: Option<Arc<str>>,
    /// By what it is recognised if the broker goes by the body.
    pub body_id: Option<Arc<str>>,
    /// Whether it outlives a restart.
    pub persistent: bool,
    /// When it is not worth anything any more.
    pub expires: Option<Ms>,
    /// Which partition it goes to.
    pub partition: u32,
}

impl Default for Publish {
    fn default() -> Self {
        Publish {
            id: None,
            body_id: None,
            persistent: true,
            expires: None,
            partition: 0,
        }
    }
}

/// What a publish came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The message that stands for it.
    pub message: u32,
    /// Whether it was accepted earlier.
    pub deduplicated: bool,
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// A message with nothing but an id.
    pub fn publish(&mut self, now: Ms, body: B, id: Option<Arc<str>>) -> Accepted {
        self.publish_with(
            now,
            body,
            Publish {
                id,
                ..Publish::default()
            },
        )
    }

    /// A message is accepted, unless its id is known: then the earlier one stands for it.
    pub fn publish_with(&mut self, now: Ms, body: B, publish: Publish) -> Accepted {
        let partition = match self.rules.partitions {
            Some(partitions) => publish.partition % partitions.max(1),
            None => publish.partition,
        };
        let known = self.rules.dedup.and_then(|rules| {
            let id = match rules.by {
                DedupBy::Id => publish.id,
                DedupBy::Body => publish.body_id,
            };
            Some((rules, id?))
        });
        let place = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        if let Some((rules, id)) = known {
            let scope = match rules.scope {
                super::rules::DedupScope::Queue => 0,
                super::rules::DedupScope::Partition => partition,
            };
            self.dedup.forget(now, rules.window);
            if let Some(message) = self.dedup.find(now, &id, scope) {
                return Accepted {
                    message,
                    deduplicated: true,
                };
            }
            self.dedup.remember(now, id, scope, place);
        }
        self.messages.push(Message {
            body,
            state: State::Ready,
            deliveries: 0,
            counted: 0,
            handed: 0,
            persistent: publish.persistent,
            accepted_at: now,
            settled_at: 0,
            expires: publish.expires,
            partition,
            copies: 0,
        });
        self.ready.push(place);
        Accepted {
            message: place,
            deduplicated: false,
        }
    }

    /// The ids that still count, with when each was accepted.
    pub fn remembered(&self, now: Ms) -> impl Iterator<Item = (&Arc<str>, Ms)> {
        let window = self.rules.dedup.map_or(0, |dedup| dedup.window);
        self.dedup.remembered(now, window)
    }

    /// Drops the waiting messages that have outlived their worth, as far as they are at the head of
    /// the queue.
    pub fn drop_expired(&mut self, now: Ms) -> Vec<u32> {
        let mut dropped = Vec::new();
        while let Some(place) = self.head() {
            let message = &mut self.messages[place as usize];
            if message.expires.is_none_or(|at| now < at) {
                break;
            }
            message.state = State::Dropped;
            self.ready.forget(place);
            dropped.push(place);
        }
        dropped
    }

    fn head(&self) -> Option<u32> {
        self.waiting().next()
    }

    /// Drops the waiting message that would be handed over first.
    pub fn drop_head(&mut self) -> Option<u32> {
        let place = self.head()?;
        self.messages[place as usize].state = State::Dropped;
        self.ready.forget(place);
        Some(place)
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// Counts messages as done that are gone from where they were kept.
    pub(super) fn settle_quietly(&mut self, gone: impl Fn(&B) -> bool) {
        for message in &mut self.messages {
            if !message.is_over() && gone(&message.body) {
                message.state = State::Settled;
            }
        }
    }
}
