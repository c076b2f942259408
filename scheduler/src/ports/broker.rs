//! The queue between scheduler and executor.

use super::{At, CallError, Fut};
use crate::{Span, steps};
use evidence::{MessageId, RunKey, SlotTag, Step, TraceId};
use std::sync::Arc;

/// What is published: a run, not an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The run.
    pub run: RunKey,
    /// Its trace.
    pub trace: TraceId,
    /// Its slot, sealed.
    pub slot: SlotTag,
    /// What the producer gives the broker to recognise a repeated publish; `None`: nothing.
    pub dedup_id: Option<Arc<str>>,
}

/// What the broker says of a publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The message's identity.
    pub message: MessageId,
    /// True if the broker recognised the dedup id and kept the earlier message only.
    pub deduplicated: bool,
}

/// The right to settle one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receipt(pub u64);

/// One hand-over of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub message: MessageId,
    /// What it says.
    pub envelope: Envelope,
    /// Which hand-over, from 1.
    pub count: u32,
    /// The right to settle it.
    pub receipt: Receipt,
}

/// What the broker says of an ack, a reject, a deferral or a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Accepted.
    Accepted,
    /// The delivery no longer holds the message.
    NotYours,
}

/// What the calls of a queue are named in the pipeline.
#[derive(Debug)]
pub struct QueueSteps {
    /// A run is handed to the queue.
    pub publish: &'static Step,
    /// A consumer gets it.
    pub deliver: &'static Step,
    /// It is settled as done.
    pub ack: &'static Step,
    /// It is settled as not to be tried again.
    pub reject: &'static Step,
    /// It is given back for later.
    pub defer: &'static Step,
    /// Its deadline is extended.
    pub renew: &'static Step,
}

/// Of a broker.
pub static OF_BROKER: QueueSteps = QueueSteps {
    publish: &steps::BROKER_PUBLISH,
    deliver: &steps::BROKER_DELIVER,
    ack: &steps::BROKER_ACK,
    reject: &steps::BROKER_REJECT,
    defer: &steps::BROKER_DEFER,
    renew: &steps::BROKER_RENEW,
};

/// A broker, as one instance is connected to it.
pub trait Broker: Send + Sync {
    /// What its calls are named.
    fn steps(&self) -> &'static QueueSteps {
        &OF_BROKER
    }

    /// Hands a run to the broker and waits for its confirm.
    fn publish<'a>(
        &'a self,
        at: At<'a>,
        envelope: Envelope,
    ) -> Fut<'a, Result<Published, CallError>>;

    /// Waits for a message (a long poll).
    fn deliver<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<Delivery, CallError>>;

    /// Done: the message may go.
    fn ack<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>>;

    /// Not to be tried again: the message becomes a dead letter.
    fn reject<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>>;

    /// To be delivered again after `delay`.
    fn defer<'a>(
        &'a self,
        at: At<'a>,
        receipt: Receipt,
        delay: Span,
    ) -> Fut<'a, Result<Settled, CallError>>;

    /// Extends the delivery's deadline to its full length from now.
    fn renew<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>>;

    /// How often a consumer of this broker extends the deadline while it works; `None`: never.
    fn renew_every(&self) -> Option<Span>;
}
