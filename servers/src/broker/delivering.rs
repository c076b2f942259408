//! From the queue to a consumer, and back when the consumer does not settle.

use super::rules::{GivesUp, Order, RedeliveredFlag, Then};
use super::{Broker, Holder, Receipt, State};
use crate::Ms;
use crate::broken::broken;

/// One delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<B> {
    /// The right to settle it.
    pub receipt: Receipt,
    /// What the message says.
    pub body: B,
    /// Which hand-over it is, from 1.
    pub count: u32,
    /// Deliveries that counted before it.
    pub counted_before: u32,
    /// When it goes back unless it is settled.
    pub deadline: Option<Ms>,
    /// Whether it waited in the memory of its holder.
    pub prefetched: bool,
    /// What it says of deliveries before it.
    pub(super) flag: RedeliveredFlag,
}

impl<B> Delivery<B> {
    /// What the consumer is told of earlier deliveries; `None`: nothing.
    pub const fn redelivered(&self) -> Option<bool> {
        match self.flag {
            RedeliveredFlag::Absent => None,
            RedeliveredFlag::Exact | RedeliveredFlag::Hint => Some(self.count > 1),
        }
    }
}

/// A message is handed to a consumer that waited for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedOver<C, B> {
    /// It is with the consumer.
    ToConsumer(C, Delivery<B>),
    /// It waits in the memory of a holder whose consumers are all at work.
    Ahead(Prefetched),
}

/// A delivery that waits in the memory of its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetched {
    /// With whom.
    pub holder: Holder,
    /// Which delivery.
    pub receipt: Receipt,
    /// When it goes back unless it is settled.
    pub deadline: Option<Ms>,
    /// Deliveries that counted before it.
    pub counted_before: u32,
}

/// What becomes of a message that is not delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Parked for a person.
    DeadLettered(u32),
    /// Gone.
    Dropped(u32),
    /// Stored, and never delivered again.
    Kept(u32),
}

impl GivenUp {
    /// The message.
    pub const fn message(self) -> u32 {
        match self {
            GivenUp::DeadLettered(place) | GivenUp::Dropped(place) | GivenUp::Kept(place) => place,
        }
    }
}

/// Why a delivery has ended without being settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Nack,
    Deadline,
    Disconnect,
}

/// How much a consumer is preferred for a message.
pub type Weigh<'a, B> = &'a mut dyn FnMut(&B, Holder) -> u64;

impl<C: Copy, B: Clone> Broker<C, B> {
    /// A consumer waits for a message.
    pub fn consume(&mut self, consumer: C, holder: Holder) {
        self.consumers.push_back(consumer);
        if self.rules.partitions.is_some() {
            self.group.join(holder);
        }
        if self.rules.prefetch.is_some() && !self.prefetchers.contains(&holder) {
            self.prefetchers.push(holder);
        }
    }

    /// Hands the first message that waits to the consumer that has waited longest, if there are
    /// both. `holder` says whose a consumer is; `weigh` may prefer a consumer for a message: the
    /// highest weight wins, of equal ones the longest wait.
    pub fn hand_over(
        &mut self,
        now: Ms,
        mut holder: impl FnMut(C) -> Holder,
        weigh: Option<Weigh<'_, B>>,
    ) -> Option<HandedOver<C, B>> {
        if self.down {
            return None;
        }
        if let Some(over) = self.take_from_buffer(&mut holder) {
            return Some(over);
        }
        let (at, place, of) = self.next_pair(now, &mut holder, weigh)?;
        self.ready.remove(at);
        match of {
            Taker::Consumer(at) => {
                let consumer = self.consumers.remove(at)?;
                let delivery = self.give(now, 0, place, holder(consumer));
                Some(HandedOver::ToConsumer(consumer, delivery))
            }
            Taker::Ahead(holder) => {
                let delivery = self.give(now, 0, place, holder);
                let ahead = Prefetched {
                    holder,
                    receipt: delivery.receipt,
                    deadline: delivery.deadline,
                    counted_before: delivery.counted_before,
                };
                self.buffered.push_back(ahead);
                Some(HandedOver::Ahead(ahead))
            }
        }
    }

    /// The next message that can be handed over, and to whom.
    fn next_pair(
        &mut self,
        now: Ms,
        holder: &mut impl FnMut(C) -> Holder,
        weigh: Option<Weigh<'_, B>>,
    ) -> Option<(usize, u32, Taker)> {
        if self.rules.partitions.is_some() {
            return self.next_of_group(now, holder);
        }
        let taker = match self.consumers.is_empty() {
            true => Taker::Ahead(self.who_prefetches()?),
            false => Taker::Consumer(0),
        };
        let place = self.next_ready(now)?;
        if let (Taker::Consumer(_), Some(weigh)) = (&taker, weigh) {
            let body = &self.messages[place as usize].body;
            let mut weight = |consumer: C| weigh(body, holder(consumer));
            let weights: Vec<u64> = self.consumers.iter().map(|c| weight(*c)).collect();
            // Of two with the same weight the one that has waited longest.
            let first = (0..weights.len()).rev().max_by_key(|at| weights[*at])?;
            return Some((0, place, Taker::Consumer(first)));
        }
        Some((0, place, taker))
    }

    /// A consumer asks for one message, now. `since`: see [`Broker::take_since`].
    pub fn take(&mut self, now: Ms, holder: Holder) -> Option<Delivery<B>> {
        self.take_since(now, holder, 0)
    }

    /// A consumer asks for one message, now; its connection was opened at `since`, from when on the
    /// broker looks at its deadlines.
    pub fn take_since(&mut self, now: Ms, holder: Holder, since: Ms) -> Option<Delivery<B>> {
        if self.down {
            return None;
        }
        let place = self.next_ready(now)?;
        self.ready.pop();
        Some(self.give(now, since, place, holder))
    }

    /// The first message that may be handed over; it is at the head of the queue then. Gives up
    /// what has been delivered often enough, where that is seen only now.
    fn next_ready(&mut self, _now: Ms) -> Option<u32> {
        while let Some((place, returned)) = self.ready.first() {
            let stalled = !returned && self.is_stalled();
            let message = &mut self.messages[place as usize];
            // One more worker has it in its memory, whatever has become of it since.
            let again = message.copies > 0 && message.state != State::Ready;
            if message.state != State::Ready && !again {
                // A late ack may have settled a message that waits in the queue.
                self.ready.pop();
                continue;
            }
            let often_enough = self
                .rules
                .max_deliver
                .is_some_and(|most| message.counted >= most);
            if self.rules.gives_up == GivesUp::OnHandOver
                && often_enough
                && !broken!(MaxDeliverIgnored)
            {
                message.state = State::Kept;
                self.ready.pop();
                continue;
            }
            if stalled {
                return None;
            }
            if again {
                message.copies -= 1;
            }
            return Some(place);
        }
        None
    }

    /// Whether too many are unsettled for a fresh one.
    fn is_stalled(&self) -> bool {
        let Some(most) = self
            .rules
            .max_unsettled
            .filter(|_| !broken!(PendingUnlimited))
        else {
            return false;
        };
        self.unsettled() >= most as usize
    }

    /// How many messages were handed over and are neither settled nor given up, those that wait to
    /// be handed over again included.
    pub fn unsettled(&self) -> usize {
        let pending = |message: &&super::Message<B>| message.deliveries > 0 && !message.is_over();
        self.messages.iter().filter(pending).count()
    }

    /// Hands a message over.
    pub(super) fn give(&mut self, now: Ms, since: Ms, place: u32, holder: Holder) -> Delivery<B> {
        let settles = self.rules.settled_on_delivery;
        self.hand_overs += 1;
        let message = &mut self.messages[place as usize];
        let counted_before = message.counted;
        message.deliveries += 1;
        message.counted += 1;
        message.handed = self.hand_overs;
        let deadline = if settles || broken!(DeadlineNeverComes) {
            None
        } else {
            self.rules
                .redelivery
                .deadline(now, since, message.deliveries)
        };
        if settles {
            message.settled_at = now;
            message.state = State::Settled;
        } else if !message.is_over() {
            message.state = State::Unacked { holder, deadline };
        }
        let receipt = Receipt {
            message: place,
            delivery: message.deliveries,
        };
        let delivery = Delivery {
            receipt,
            body: message.body.clone(),
            count: message.deliveries,
            counted_before,
            deadline,
            prefetched: false,
            flag: self.rules.flag,
        };
        self.note_tag(holder, receipt);
        delivery
    }

    /// The deadline of a delivery has come.
    pub fn deadline(&mut self, now: Ms, place: u32, delivery: u32) -> Vec<GivenUp> {
        let Some(message) = self.messages.get(place as usize) else {
            return Vec::new();
        };
        if message.deliveries != delivery {
            return Vec::new();
        }
        match message.state {
            State::Unacked {
                holder,
                deadline: Some(deadline),
            } if deadline <= now => {
                self.group.expelled(self.rules.partitions, holder);
                if self.rules.redelivery.closes {
                    let given_up = self.take_back(|other| other == holder, End::Deadline);
                    self.new_channel(|other| other == holder);
                    return given_up;
                }
                self.back(place, End::Deadline).into_iter().collect()
            }
            State::Held {
                deadline: Some(deadline),
                ..
            } if deadline <= now => {
                self.held_again(now, place);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A deferred message's time has come.
    pub fn available(&mut self, now: Ms, place: u32) -> Option<GivenUp> {
        match self.messages.get(place as usize)?.state {
            State::Delayed(until) if until <= now => self.back(place, End::Nack),
            State::Held { until, .. } if until <= now => self.taken_up(place),
            _ => None,
        }
    }

    /// All that these holders hold goes back.
    pub(super) fn take_back(&mut self, held_by: impl Fn(Holder) -> bool, end: End) -> Vec<GivenUp> {
        let held = |state: State| matches!(state, State::Unacked { holder, .. } if held_by(holder));
        let messages = (0..).zip(&self.messages);
        let held = messages.filter(|(_, message)| held(message.state));
        let mut places: Vec<u32> = held.map(|(place, _)| place).collect();
        if self.rules.lost == Order::Front {
            // In the order in which they were handed over.
            places.sort_by_key(|place| self.messages[*place as usize].handed);
        }
        places
            .into_iter()
            .filter_map(|place| self.back(place, end))
            .collect()
    }

    /// Back into the queue, unless it has been delivered often enough.
    pub(super) fn back(&mut self, place: u32, end: End) -> Option<GivenUp> {
        let order = match end {
            End::Nack => self.rules.nacked,
            End::Deadline | End::Disconnect => self.rules.lost,
        };
        let counts = match end {
            // A nack was not counted when it came, so that it may wait.
            End::Nack => true,
            End::Deadline => self.rules.counts.deadline,
            End::Disconnect => self.rules.counts.disconnect && !broken!(CloseNotCounted),
        };
        let message = &mut self.messages[place as usize];
        if !counts {
            message.counted = message.counted.saturating_sub(1);
        }
        let often_enough = self
            .rules
            .max_deliver
            .is_some_and(|most| message.counted >= most);
        if self.rules.gives_up == GivesUp::OnReturn && often_enough && !broken!(MaxDeliverIgnored) {
            return Some(self.give_up(place));
        }
        message.state = State::Ready;
        self.ready.put_back(place, order);
        None
    }

    /// Never to be delivered again.
    pub(super) fn give_up(&mut self, place: u32) -> GivenUp {
        let message = &mut self.messages[place as usize];
        match self.rules.then {
            Then::Drop => {
                message.state = State::Dropped;
                GivenUp::Dropped(place)
            }
            Then::DeadLetter => {
                message.state = State::Dead;
                GivenUp::DeadLettered(place)
            }
            Then::Keep => {
                message.state = State::Kept;
                GivenUp::Kept(place)
            }
        }
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// Takes away the consumers that are not waiting any more, and gives them back.
    pub fn forget_consumers(&mut self, mut gone: impl FnMut(C) -> bool) -> Vec<C>
    where
        C: Copy,
    {
        let mut forgotten = Vec::new();
        self.consumers.retain(|consumer| {
            let gone = gone(*consumer);
            if gone {
                forgotten.push(*consumer);
            }
            !gone
        });
        forgotten
    }

    /// The consumers that wait, the one that has waited longest first.
    pub fn consumers(&self) -> impl Iterator<Item = &C> {
        self.consumers.iter()
    }
}

/// Who gets a message.
pub(super) enum Taker {
    /// The consumer at this place.
    Consumer(usize),
    /// Nobody yet: it waits in the memory of a holder.
    Ahead(Holder),
}
