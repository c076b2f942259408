//! A broker in memory: one queue, first come, first served.

use super::lock;
use crate::ports::{
    At, Broker, CallError, Delivery, Envelope, Fut, Journal, Monotonic, Published, Receipt,
    Runtime, Settled,
};
use crate::{Span, race};
use evidence::{Ids, MessageId, What};
use std::collections::{BTreeMap, VecDeque};
use std::future::{poll_fn, ready};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Hands every message to whoever asks first. There is no deadline and no limit of deliveries: a
/// message that is neither acked, rejected nor deferred stays with its consumer.
pub struct MemoryBroker {
    runtime: Arc<dyn Runtime>,
    journal: Arc<dyn Journal>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    messages: u32,
    receipts: u64,
    ready: VecDeque<Message>,
    /// By when they are ready; the second number tells those of one moment apart.
    deferred: BTreeMap<(Monotonic, u64), Message>,
    unacked: BTreeMap<u64, Message>,
    dead: Vec<Message>,
    /// Grows whenever there may be something to deliver.
    changes: u64,
    waiting: Vec<Waker>,
}

#[derive(Clone)]
struct Message {
    id: MessageId,
    envelope: Envelope,
    count: u32,
}

impl MemoryBroker {
    /// With an empty queue; deferrals are slept through on `runtime`, and what happens is told to
    /// `journal`.
    pub fn new(runtime: Arc<dyn Runtime>, journal: Arc<dyn Journal>) -> Self {
        MemoryBroker {
            runtime,
            journal,
            queue: Mutex::default(),
        }
    }

    /// Messages that are not settled yet: ready, deferred or with a consumer.
    pub fn unsettled(&self) -> usize {
        let queue = lock(&self.queue);
        queue.ready.len() + queue.deferred.len() + queue.unacked.len()
    }

    /// Messages that were rejected.
    pub fn dead_letters(&self) -> Vec<Envelope> {
        let queue = lock(&self.queue);
        queue
            .dead
            .iter()
            .map(|dead| dead.envelope.clone())
            .collect()
    }

    fn tell(&self, at: At<'_>, message: MessageId, delivery: u32, what: What) {
        let ids = Ids {
            message: Some(message),
            delivery,
            ..at.ids.clone()
        };
        self.journal.record(At::new(at.step, &ids), what);
    }

    /// Takes a message from the consumer that holds this receipt.
    fn settle<'a>(
        &self,
        at: At<'_>,
        receipt: Receipt,
        what: What,
        then: impl FnOnce(&mut Queue, Message),
    ) -> Fut<'a, Result<Settled, CallError>> {
        let settled = {
            let mut queue = lock(&self.queue);
            let message = queue.unacked.remove(&receipt.0);
            if let Some(message) = message.clone() {
                then(&mut queue, message);
            }
            message
        };
        Box::pin(ready(Ok(match settled {
            Some(message) => {
                self.tell(at, message.id, message.count, what);
                Settled::Accepted
            }
            None => {
                self.journal.record(at, What::AckRefused);
                Settled::NotYours
            }
        })))
    }

    /// Ends when the queue has changed since it was at `seen`.
    fn changed(&self, seen: u64) -> Fut<'_, ()> {
        Box::pin(poll_fn(move |context| {
            let mut queue = lock(&self.queue);
            if queue.changes != seen {
                return Poll::Ready(());
            }
            queue.waiting.push(context.waker().clone());
            Poll::Pending
        }))
    }
}

impl Queue {
    /// The message that is delivered now, or else when the next one is due, if any is deferred.
    fn next(&mut self, now: Monotonic) -> Result<Delivery, Option<Span>> {
        while let Some(first) = self.deferred.first_entry()
            && first.key().0 <= now
        {
            self.ready.push_back(first.remove());
        }
        let Some(mut message) = self.ready.pop_front() else {
            let due = self.deferred.first_key_value().map(|((due, _), _)| due.0);
            return Err(due.map(|due| Span::millis(due.saturating_sub(now.0))));
        };
        message.count += 1;
        self.receipts += 1;
        let delivery = Delivery {
            message: message.id,
            envelope: message.envelope.clone(),
            count: message.count,
            receipt: Receipt(self.receipts),
        };
        self.unacked.insert(self.receipts, message);
        Ok(delivery)
    }

    fn tell_waiting(&mut self) {
        self.changes += 1;
        for waker in self.waiting.drain(..) {
            waker.wake();
        }
    }
}

impl Broker for MemoryBroker {
    fn publish<'a>(
        &'a self,
        at: At<'a>,
        envelope: Envelope,
    ) -> Fut<'a, Result<Published, CallError>> {
        let message = {
            let mut queue = lock(&self.queue);
            queue.messages += 1;
            let id = MessageId(queue.messages);
            queue.ready.push_back(Message {
                id,
                envelope,
                count: 0,
            });
            queue.tell_waiting();
            id
        };
        self.tell(at, message, 0, What::Published);
        Box::pin(ready(Ok(Published {
            message,
            deduplicated: false,
        })))
    }

    fn deliver<'a>(&'a self, at: At<'a>) -> Fut<'a, Result<Delivery, CallError>> {
        Box::pin(async move {
            loop {
                let now = self.runtime.monotonic();
                let (next, seen) = {
                    let mut queue = lock(&self.queue);
                    (queue.next(now), queue.changes)
                };
                match next {
                    Ok(delivery) => {
                        let ids = Ids {
                            slot: delivery.envelope.slot,
                            run: Some(delivery.envelope.run.clone()),
                            trace: Some(delivery.envelope.trace),
                            ..Ids::default()
                        };
                        let at = At::new(at.step, &ids);
                        self.tell(at, delivery.message, delivery.count, What::Delivered);
                        return Ok(delivery);
                    }
                    Err(None) => self.changed(seen).await,
                    Err(Some(wait)) => {
                        race::first(self.changed(seen), self.runtime.sleep(wait)).await;
                    }
                }
            }
        })
    }

    fn ack<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.settle(at, receipt, What::Acked, |_, _| {})
    }

    fn reject<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        self.settle(at, receipt, What::DeadLettered, |queue, message| {
            queue.dead.push(message);
        })
    }

    fn defer<'a>(
        &'a self,
        at: At<'a>,
        receipt: Receipt,
        delay: Span,
    ) -> Fut<'a, Result<Settled, CallError>> {
        let due = self.runtime.monotonic().plus(delay);
        let for_ms = u32::try_from(delay.ms()).unwrap_or(u32::MAX);
        self.settle(at, receipt, What::Deferred { for_ms }, |queue, message| {
            queue.deferred.insert((due, receipt.0), message);
            queue.tell_waiting();
        })
    }

    fn renew<'a>(&'a self, at: At<'a>, receipt: Receipt) -> Fut<'a, Result<Settled, CallError>> {
        let held = lock(&self.queue).unacked.contains_key(&receipt.0);
        let settled = if held {
            self.journal.record(at, What::Renewed);
            Settled::Accepted
        } else {
            Settled::NotYours
        };
        Box::pin(ready(Ok(settled)))
    }

    fn renew_every(&self) -> Option<Span> {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{ManualRuntime, ManualTime, Silence, block_on};
    use super::*;
    use crate::steps;
    use evidence::{SlotTag, TraceId};
    use std::task::Context;

    fn broker() -> (Arc<ManualRuntime>, MemoryBroker) {
        let runtime = Arc::new(ManualRuntime::new(Arc::new(ManualTime::default())));
        let broker = MemoryBroker::new(runtime.clone(), Arc::new(Silence));
        (runtime, broker)
    }

    fn publish(broker: &MemoryBroker) -> MessageId {
        let envelope = Envelope {
            run: "report@2026-01-01T02:00:00.000Z".parse().unwrap(),
            trace: TraceId(1),
            slot: SlotTag::NONE,
            dedup_id: None,
        };
        let nobody = Ids::default();
        let at = At::new(&steps::BROKER_PUBLISH, &nobody);
        block_on(broker.publish(at, envelope)).unwrap().message
    }

    fn deliver(broker: &MemoryBroker) -> Delivery {
        let nobody = Ids::default();
        block_on(broker.deliver(At::new(&steps::BROKER_DELIVER, &nobody))).unwrap()
    }

    #[test]
    fn a_message_is_settled_once() {
        let (_, broker) = broker();
        let message = publish(&broker);
        let delivery = deliver(&broker);
        assert_eq!((delivery.message, delivery.count), (message, 1));
        let nobody = Ids::default();
        let at = At::new(&steps::BROKER_ACK, &nobody);
        assert_eq!(
            block_on(broker.ack(at, delivery.receipt)),
            Ok(Settled::Accepted)
        );
        assert_eq!(
            block_on(broker.ack(at, delivery.receipt)),
            Ok(Settled::NotYours)
        );
        assert_eq!(broker.unsettled(), 0);
    }

    #[test]
    fn a_rejected_message_is_a_dead_letter() {
        let (_, broker) = broker();
        publish(&broker);
        let delivery = deliver(&broker);
        let nobody = Ids::default();
        let at = At::new(&steps::BROKER_REJECT, &nobody);
        block_on(broker.reject(at, delivery.receipt)).unwrap();
        assert_eq!(broker.unsettled(), 0);
        assert_eq!(broker.dead_letters(), [delivery.envelope]);
    }

    #[test]
    fn a_deferred_message_comes_again_when_its_time_has_come() {
        let (runtime, broker) = broker();
        let message = publish(&broker);
        let delivery = deliver(&broker);
        let nobody = Ids::default();
        let at = At::new(&steps::BROKER_DEFER, &nobody);
        block_on(broker.defer(at, delivery.receipt, Span::secs(5))).unwrap();
        let mut next = broker.deliver(at);
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        runtime.advance(Span::millis(4_999));
        assert!(next.as_mut().poll(&mut context).is_pending());
        runtime.advance(Span::millis(1));
        let Poll::Ready(Ok(again)) = next.as_mut().poll(&mut context) else {
            panic!("not delivered");
        };
        assert_eq!((again.message, again.count), (message, 2));
    }

    #[test]
    fn whoever_waits_gets_the_message_that_comes() {
        let (_, broker) = broker();
        let nobody = Ids::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| deliver(&broker).message);
            let message = publish(&broker);
            assert_eq!(waiting.join().unwrap(), message);
        });
        let at = At::new(&steps::BROKER_DELIVER, &nobody);
        let mut context = Context::from_waker(Waker::noop());
        assert!(broker.deliver(at).as_mut().poll(&mut context).is_pending());
    }
}
