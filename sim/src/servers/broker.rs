//! The broker: the model of `servers`, with what the simulator knows beside it.
//!
//! What it promises is a matter of its fields (`[broker]`), not of code.

use crate::agenda::Ms;
use crate::calls::CallKey;
use evidence::{MessageId, Slot};
use rustc_hash::FxHashMap;
use scenarios::file::{Assign, BrokerTable};
use scheduler::ports::{self, Envelope};
use servers::broker::rules::{DedupBy, Refusals, Rules};
use servers::broker::{
    self as model, GivenUp, HandedOver, Holder, Outage, Publish, Settling, State,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// What a call asks of the broker.
#[derive(Clone, Debug)]
pub(crate) enum BrokerRequest {
    Publish(Envelope),
    Deliver,
    Ack(ports::Receipt),
    Reject(ports::Receipt),
    Defer(ports::Receipt, Ms),
    Renew(ports::Receipt),
}

/// A message that was accepted.
pub(crate) type Message = model::Message<Envelope>;

/// What was published.
pub(crate) struct Accepted {
    pub(crate) message: MessageId,
    pub(crate) deduplicated: bool,
}

/// How a scenario sets the broker up.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    rules: Rules,
    assign: Assign,
    outage: Outage,
    /// Whether a replica is behind.
    fails_over: bool,
}

impl Terms {
    pub(crate) fn of(table: &BrokerTable) -> Self {
        Terms {
            rules: table.rules(),
            assign: table.assign,
            outage: table.outage.rule(),
            fails_over: table.failover_loses.0.is_some(),
        }
    }

    /// Whether a restart may bring back what is over.
    pub(crate) fn forgets_settlements(&self) -> bool {
        self.fails_over || self.outage == Outage::Machine && self.rules.fsync_every.is_some()
    }
}

/// The state of the broker.
pub(crate) struct Broker {
    model: model::Broker<CallKey, Envelope>,
    assign: Assign,
    outage: Outage,
    /// The place of each slot's newest message.
    newest: FxHashMap<Slot, u32>,
}

impl Broker {
    /// No messages, and no promises.
    pub(crate) fn new() -> Self {
        Broker {
            model: model::Broker::new(Rules::default()),
            assign: Assign::default(),
            outage: Outage::default(),
            newest: FxHashMap::default(),
        }
    }

    /// Empty, under these terms.
    pub(crate) fn open(&mut self, terms: &Terms) {
        self.model.reset(terms.rules.clone());
        self.assign = terms.assign;
        self.outage = terms.outage;
        self.newest.clear();
    }

    /// The model.
    pub(crate) const fn model(&mut self) -> &mut model::Broker<CallKey, Envelope> {
        &mut self.model
    }

    /// All messages that were accepted, in this order.
    pub(crate) fn messages(&self) -> &[Message] {
        self.model.messages()
    }

    pub(crate) const fn is_down(&self) -> bool {
        self.model.is_down()
    }

    /// Whether nothing is under way that no message shows.
    pub(crate) fn is_quiet(&self) -> bool {
        self.model.is_quiet()
    }

    /// Whether a consumer is told that what it asked was refused.
    pub(crate) fn tells_refusals(&self) -> bool {
        self.model.rules().refusals == Refusals::Told
    }

    /// A message is accepted, unless it is known: then the earlier one stands for it.
    pub(crate) fn publish(&mut self, now: Ms, envelope: Envelope) -> Accepted {
        let rules = self.model.rules();
        let by_body = rules.dedup.is_some_and(|dedup| dedup.by == DedupBy::Body);
        let publish = Publish {
            id: envelope.dedup_id.clone(),
            body_id: by_body.then(|| envelope.run.text().clone()),
            partition: match rules.partitions {
                Some(_) => xxh3_64(envelope.run.as_str().as_bytes()) as u32,
                None => 0,
            },
            ..Publish::default()
        };
        let slot = envelope.slot.truth();
        let accepted = self.model.publish_with(now, envelope, publish);
        if let Some(slot) = slot.filter(|_| !accepted.deduplicated) {
            self.newest.insert(slot, accepted.message);
        }
        Accepted {
            message: MessageId(accepted.message + 1),
            deduplicated: accepted.deduplicated,
        }
    }

    /// The place of the newest accepted message of a run's slot.
    pub(crate) fn accepted(&self, slot: Slot) -> Option<u32> {
        self.newest.get(&slot).copied()
    }

    /// The message at this place.
    pub(crate) fn message(&self, place: u32) -> Option<&Message> {
        self.model.message(place)
    }

    /// The copy of a message that an operator publishes.
    pub(crate) fn replay(&mut self, now: Ms, slot: Slot) -> Option<Accepted> {
        let envelope = Envelope {
            dedup_id: None,
            ..self.message(self.accepted(slot)?)?.body.clone()
        };
        Some(self.publish(now, envelope))
    }

    /// Hands the first ready message to a consumer that waits, if there are both. `instance` names
    /// the consumer's process.
    pub(crate) fn hand_over(
        &mut self,
        now: Ms,
        mut instance: impl FnMut(CallKey) -> u8,
    ) -> Option<HandedOver<CallKey, Envelope>> {
        let holder = |call| Holder::from(instance(call));
        match self.assign {
            Assign::LongestWaiting => self.model.hand_over(now, holder, None),
            Assign::ConsistentHash => {
                let mut weigh = |envelope: &Envelope, holder: Holder| {
                    xxh3_64_with_seed(envelope.run.as_str().as_bytes(), holder.into())
                };
                self.model.hand_over(now, holder, Some(&mut weigh))
            }
        }
    }

    /// The connections of a process broke, and its memory is gone.
    pub(crate) fn disconnect(&mut self, now: Ms, instance: u8) -> (Vec<GivenUp>, Option<Ms>) {
        self.model
            .disconnect(now, |holder| holder == Holder::from(instance), true)
    }

    /// The broker goes down: every connection breaks.
    pub(crate) fn go_down(&mut self, now: Ms) -> Vec<GivenUp> {
        self.model.go_down(now, self.outage)
    }

    /// A replica takes over that is behind by so much.
    pub(crate) fn fail_over(&mut self, now: Ms, behind: Ms) -> Vec<GivenUp> {
        self.model.go_down(now, Outage::Behind(behind))
    }

    /// Takes the dead letters away, and gives the slots of their runs, in their order.
    pub(crate) fn take_dead(&mut self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = self
            .model
            .take_dead()
            .into_iter()
            .filter_map(|place| self.message(place)?.body.slot.truth())
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// What is left of a message, as a person would find it.
pub(crate) const fn holder_of(state: State) -> Option<evidence::Holder> {
    match state {
        State::Ready | State::Delayed(_) => Some(evidence::Holder::ReadyMessage),
        // A message that is kept for good was never acked either.
        State::Unacked { .. } | State::Held { .. } | State::Kept => {
            Some(evidence::Holder::UnackedMessage)
        }
        State::Dead => Some(evidence::Holder::DeadLetter),
        State::Settled | State::Dropped => None,
    }
}

/// What a consumer is told of what it said.
pub(crate) const fn settled(settling: &Settling) -> ports::Settled {
    match settling {
        Settling::NotYours | Settling::Closed(_) => ports::Settled::NotYours,
        _ => ports::Settled::Accepted,
    }
}

/// A receipt names the message and the delivery.
pub(crate) const fn receipt(of: model::Receipt) -> ports::Receipt {
    ports::Receipt((of.message as u64) << 32 | of.delivery as u64)
}

/// The same for the model.
pub(crate) const fn named(receipt: ports::Receipt) -> model::Receipt {
    model::Receipt {
        message: (receipt.0 >> 32) as u32,
        delivery: receipt.0 as u32,
    }
}
