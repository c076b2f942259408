//! What a consumer says of a delivery: done, never again, later, or still at work.

use super::delivering::{End, GivenUp};
use super::rules::{Delayed, Fencing, StaleTag};
use super::{Broker, Channel, Holder, Receipt, State};
use crate::Ms;
use crate::broken::broken;

/// What settling came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settling {
    /// Accepted.
    Accepted,
    /// Accepted, and it settled another delivery than the one that it meant.
    Another(Receipt),
    /// Accepted; the message is available again, or given up, at this time.
    Later(Ms),
    /// Accepted; the deadline of this delivery is now at this time.
    Extended(Ms),
    /// Accepted; the message is not delivered again.
    GivenUp(GivenUp),
    /// Not accepted: the delivery has no right to settle the message any more.
    NotYours,
    /// Not accepted, and the broker closed the connection: all that it held goes back.
    Closed(Vec<GivenUp>),
}

/// The channels on which deliveries went out, where an ack says no more than a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags {
    channels: Vec<(Holder, Channel<Receipt>)>,
    /// Where each delivery went: its holder, which channel of it, and under which tag.
    given: Vec<(Receipt, Holder, u32, u64)>,
    /// Which channel of it each holder has, one after the other.
    opened: Vec<(Holder, u32)>,
}

impl Tags {
    pub(super) fn clear(&mut self) {
        self.channels.clear();
        self.given.clear();
        self.opened.clear();
    }

    fn number(&self, holder: Holder) -> u32 {
        let of = self.opened.iter().find(|(other, _)| *other == holder);
        of.map_or(0, |(_, number)| *number)
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// A delivery goes out.
    pub(super) fn note_tag(&mut self, holder: Holder, receipt: Receipt) {
        if self.rules.stale_tag != StaleTag::SettlesAnother {
            return;
        }
        let at = self
            .tags
            .channels
            .iter()
            .position(|(other, _)| *other == holder);
        let at = at.unwrap_or_else(|| {
            self.tags.channels.push((holder, Channel::default()));
            self.tags.channels.len() - 1
        });
        let tag = self.tags.channels[at].1.hand_out(receipt);
        let number = self.tags.number(holder);
        self.tags.given.push((receipt, holder, number, tag));
    }

    /// The tag that each holder has come to on its channel.
    pub fn last_tags(&self) -> impl Iterator<Item = (Holder, u64)> {
        self.tags
            .channels
            .iter()
            .map(|(holder, channel)| (*holder, channel.last()))
    }

    /// These holders go on with a new channel.
    pub(super) fn new_channel(&mut self, of: impl Fn(Holder) -> bool) {
        let tags = &mut self.tags;
        for (holder, channel) in tags.channels.iter_mut().filter(|(holder, _)| of(*holder)) {
            *channel = channel.reopened();
            match tags.opened.iter_mut().find(|(other, _)| other == holder) {
                Some((_, number)) => *number += 1,
                None => tags.opened.push((*holder, 1)),
            }
        }
    }

    /// Whether this delivery is the one that holds the message.
    fn holds(&self, receipt: Receipt) -> bool {
        self.message(receipt.message).is_some_and(|message| {
            message.deliveries == receipt.delivery && matches!(message.state, State::Unacked { .. })
        })
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// Done.
    pub fn ack(&mut self, receipt: Receipt) -> Settling {
        self.ack_at(0, receipt)
    }

    /// Done, at this time: it is forgotten where the broker loses what it did last.
    pub fn ack_at(&mut self, now: Ms, receipt: Receipt) -> Settling {
        self.settle(now, receipt, State::Settled)
    }

    /// Never again, and parked for a person.
    pub fn reject(&mut self, now: Ms, receipt: Receipt) -> Settling {
        self.settle(now, receipt, State::Dead)
    }

    /// Never again, and gone.
    pub fn drop_message(&mut self, now: Ms, receipt: Receipt) -> Settling {
        self.settle(now, receipt, State::Dropped)
    }

    fn settle(&mut self, now: Ms, receipt: Receipt, to: State) -> Settling {
        if let Some(settling) = self.by_stale_tag(now, receipt, to) {
            return settling;
        }
        if !self.may_settle(receipt) {
            return Settling::NotYours;
        }
        let message = &mut self.messages[receipt.message as usize];
        message.state = to;
        message.settled_at = now;
        Settling::Accepted
    }

    fn may_settle(&self, receipt: Receipt) -> bool {
        let Some(message) = self.message(receipt.message) else {
            return false;
        };
        let latest = message.deliveries == receipt.delivery;
        if broken!(LateAckRefused) && !latest {
            return false;
        }
        match self.rules.fencing {
            Fencing::Token => self.holds(receipt),
            Fencing::Latest => latest && !message.is_over(),
            Fencing::Off => !message.is_over() || message.state == State::Kept,
        }
    }

    /// An ack by a number that belongs to a channel from before: it means whatever has this number
    /// now.
    fn by_stale_tag(&mut self, now: Ms, receipt: Receipt, to: State) -> Option<Settling> {
        if self.rules.stale_tag != StaleTag::SettlesAnother {
            return None;
        }
        let given = self.tags.given.iter().find(|(other, ..)| *other == receipt);
        let (_, holder, number, tag) = *given?;
        let channels = &mut self.tags.channels;
        let (_, channel) = channels.iter_mut().find(|(other, _)| *other == holder)?;
        let means = channel.settle(tag, false);
        if number == self.tags.number(holder) && means.is_ok() {
            return None;
        }
        match means.ok().and_then(|means| means.first().copied()) {
            Some(other) if self.holds(other) => {
                let message = &mut self.messages[other.message as usize];
                message.state = to;
                message.settled_at = now;
                Some(Settling::Another(other))
            }
            _ if broken!(UnknownTagIgnored) => Some(Settling::NotYours),
            _ => {
                let given_up = self.take_back(|other| other == holder, End::Disconnect);
                self.new_channel(|other| other == holder);
                Some(Settling::Closed(given_up))
            }
        }
    }

    /// Back into the queue at once.
    pub fn nack(&mut self, now: Ms, receipt: Receipt) -> Settling {
        match self.put_off(receipt) {
            Some(true) => match self.back(receipt.message, End::Nack) {
                Some(given_up) => Settling::GivenUp(given_up),
                None => Settling::Later(now),
            },
            Some(false) => Settling::Accepted,
            None => Settling::NotYours,
        }
    }

    /// Later: the message is not delivered again before `delay` is over.
    pub fn defer(&mut self, now: Ms, receipt: Receipt, delay: Ms) -> Settling {
        match self.put_off(receipt) {
            Some(true) => {}
            // It waits to be handed over already, and now it waits for longer.
            Some(false) => self.ready.forget(receipt.message),
            None => return Settling::NotYours,
        }
        let until = now + delay;
        match self.rules.delayed {
            Delayed::Broker => {
                self.messages[receipt.message as usize].state = State::Delayed(until)
            }
            Delayed::Worker => self.hold(now, receipt.message, until),
        }
        Settling::Later(until)
    }

    /// Whether a delivery may be put off; `Some(false)`: it waits to be handed over already.
    fn put_off(&mut self, receipt: Receipt) -> Option<bool> {
        let holds = self.holds(receipt);
        let counts = self.rules.counts.nack;
        let stale_acts = self.rules.stale_nack_acts;
        let message = self.messages.get_mut(receipt.message as usize)?;
        // A consumer that took the message out of the queue puts it back itself.
        let own = self.rules.puts_back
            && message.state == State::Settled
            && message.deliveries == receipt.delivery;
        if !holds && !own {
            if !stale_acts || message.is_over() || message.deliveries < receipt.delivery {
                return None;
            }
            if message.state == State::Ready {
                return Some(false);
            }
        }
        if !counts {
            message.counted = message.counted.saturating_sub(1);
        }
        Some(true)
    }

    /// Still at work: the deadline starts anew.
    pub fn renew(&mut self, now: Ms, receipt: Receipt) -> Settling {
        let holds = self.holds(receipt);
        if !holds && !self.rules.stale_nack_acts {
            return Settling::NotYours;
        }
        let Some(message) = self.messages.get_mut(receipt.message as usize) else {
            return Settling::NotYours;
        };
        if !holds && message.is_over() {
            return Settling::NotYours;
        }
        let length = self.rules.redelivery.length(message.deliveries);
        let (Some(length), false) = (length, self.rules.redelivery.not_renewable) else {
            return Settling::Accepted;
        };
        if broken!(RenewalIgnored) {
            return Settling::Accepted;
        }
        let until = now + length;
        match &mut message.state {
            State::Unacked { deadline, .. } => *deadline = Some(until),
            // What was put off by a nack that is not fenced can be extended all the same.
            State::Delayed(delayed) => *delayed = until,
            _ => return Settling::Accepted,
        }
        Settling::Extended(until)
    }
}
