//! Consumers take messages in turn, as far as their credit goes.

use super::super::Holder;
use super::queues::Kind;
use super::{Closed, Delivered, Out, Server};
use crate::Ms;
use crate::broken::broken;

/// One consumer of a queue.
#[derive(Clone, Debug)]
pub(super) struct Consumer {
    pub(super) channel: Holder,
    number: u32,
    /// How many deliveries it may have unsettled; 0: any number.
    prefetch: u32,
    no_ack: bool,
    /// Not asked any more before something of it is settled.
    blocked: bool,
}

impl<B: Clone> Server<B> {
    /// How many deliveries a consumer that starts from now on may have unsettled; 0: any number.
    ///
    /// # Errors
    ///
    /// The channel is not open.
    pub fn qos(&mut self, holder: Holder, prefetch: u32) -> Result<(), Closed> {
        self.session(holder)?.prefetch = prefetch;
        Ok(())
    }

    /// A channel wants the messages of a queue from now on; `no_ack`: each is settled by being
    /// sent.
    ///
    /// # Errors
    ///
    /// No such queue: the channel is closed.
    pub fn consume(
        &mut self,
        now: Ms,
        holder: Holder,
        queue: &str,
        no_ack: bool,
    ) -> Result<(), Closed> {
        let prefetch = self.session(holder)?.prefetch;
        self.consumers += 1;
        let number = self.consumers;
        let Some(of) = self.queues.get_mut(queue) else {
            return self.refuse(now, holder, Closed::NotFound);
        };
        let consumer = Consumer {
            channel: holder,
            number,
            prefetch,
            no_ack,
            blocked: false,
        };
        of.consumers.push_back(consumer);
        self.dispatch(now, queue);
        Ok(())
    }

    /// A channel wants nothing more; what it has it keeps.
    pub fn cancel(&mut self, holder: Holder) {
        for queue in self.queues.values_mut() {
            queue
                .consumers
                .retain(|consumer| consumer.channel != holder);
        }
    }

    /// Hands out messages for as long as there is a consumer with credit.
    pub(super) fn dispatch(&mut self, now: Ms, name: &str) {
        while self.dispatch_one(now, name) {}
    }

    fn dispatch_one(&mut self, now: Ms, name: &str) -> bool {
        self.expire_messages(now, name);
        let Some(queue) = self.queues.get_mut(name) else {
            return false;
        };
        if queue.broker.waiting().next().is_none() {
            return false;
        }
        let turns = queue.consumers.len();
        for _ in 0..turns {
            let Some(mut consumer) = queue.consumers.pop_front() else {
                return false;
            };
            let held = self.sessions.get(&consumer.channel).map_or(0, |session| {
                let own = |out: &&Out| out.consumer == Some(consumer.number);
                session
                    .channel
                    .unsettled()
                    .map(|(_, out)| out)
                    .filter(own)
                    .count()
            });
            let full = consumer.prefetch > 0 && held >= consumer.prefetch as usize;
            consumer.blocked |= full;
            if consumer.blocked {
                queue.consumers.push_back(consumer);
                continue;
            }
            // A quorum queue knows at once that this was the last of its credit.
            consumer.blocked = queue.arguments.kind == Kind::Quorum
                && consumer.prefetch > 0
                && held + 1 >= consumer.prefetch as usize;
            let (channel, number, no_ack) = (consumer.channel, consumer.number, consumer.no_ack);
            queue.consumers.push_back(consumer);
            let delivered = self.hand_out(now, channel, name, Some(number), no_ack);
            if let (Some(delivered), Some(session)) = (delivered, self.sessions.get_mut(&channel)) {
                session.inbox.push_back(delivered);
            }
            return true;
        }
        false
    }

    /// A consumer whose credit came back is asked again, after the others.
    pub(super) fn unblock(&mut self, name: &str, number: u32) {
        let Some(queue) = self.queues.get_mut(name) else {
            return;
        };
        let at = queue
            .consumers
            .iter()
            .position(|consumer| consumer.number == number);
        if let Some(at) = at.filter(|at| queue.consumers[*at].blocked)
            && let Some(mut consumer) = queue.consumers.remove(at)
        {
            consumer.blocked = false;
            queue.consumers.push_back(consumer);
        }
    }

    /// A client asks for one message.
    ///
    /// # Errors
    ///
    /// No such queue: the channel is closed.
    pub fn get(
        &mut self,
        now: Ms,
        holder: Holder,
        queue: &str,
        no_ack: bool,
    ) -> Result<Option<Delivered<B>>, Closed> {
        self.session(holder)?;
        if !self.queues.contains_key(queue) {
            return self.refuse(now, holder, Closed::NotFound);
        }
        self.expire_messages(now, queue);
        Ok(self.hand_out(now, holder, queue, None, no_ack))
    }

    fn hand_out(
        &mut self,
        now: Ms,
        holder: Holder,
        name: &str,
        consumer: Option<u32>,
        no_ack: bool,
    ) -> Option<Delivered<B>> {
        let session = self.sessions.get_mut(&holder)?;
        let queue = self.queues.get_mut(name)?;
        let delivery = queue.broker.take_since(now, holder, session.since)?;
        let tag = if no_ack {
            queue.broker.ack_at(now, delivery.receipt);
            session.channel.pass()
        } else {
            let out = Out {
                queue: name.to_owned(),
                receipt: delivery.receipt,
                consumer,
            };
            session.channel.hand_out(out)
        };
        let dead = !delivery.body.deaths.is_empty() && broken!(DeadLetterRedelivered);
        Some(Delivered {
            tag,
            redelivered: delivery.redelivered() == Some(true) || dead,
            // A consumer is not told a count of 0, whoever asks for one message is.
            delivery_count: (queue.arguments.kind == Kind::Quorum)
                .then_some(delivery.counted_before)
                .filter(|count| consumer.is_none() || *count > 0),
            deaths: delivery.body.deaths,
            body: delivery.body.body,
        })
    }
}
