//! Acks and nacks: numbers of a channel, which cost the channel when they are wrong.

use super::super::{Channel, Holder, Settling};
use super::queues::DeadReason;
use super::{Closed, Out, Server};
use crate::Ms;
use crate::broken::broken;

impl<B: Clone> Server<B> {
    /// Done with a delivery, or with it and all before it on this channel.
    ///
    /// # Errors
    ///
    /// The tag is not unsettled: the channel is closed.
    pub fn ack(&mut self, now: Ms, holder: Holder, tag: u64, multiple: bool) -> Result<(), Closed> {
        let outs = self.take_tags(now, holder, tag, multiple)?;
        for out in &outs {
            if let Some(queue) = self.queues.get_mut(&out.queue) {
                queue.broker.ack_at(now, out.receipt);
            }
        }
        self.give_credit(now, &outs);
        Ok(())
    }

    /// Not done: back into the queue, or given up.
    ///
    /// # Errors
    ///
    /// The tag is not unsettled: the channel is closed.
    pub fn nack(
        &mut self,
        now: Ms,
        holder: Holder,
        tag: u64,
        multiple: bool,
        requeue: bool,
    ) -> Result<(), Closed> {
        let outs = self.take_tags(now, holder, tag, multiple)?;
        self.put_back(now, &outs, requeue);
        Ok(())
    }

    /// All that a channel has not settled goes back.
    ///
    /// # Errors
    ///
    /// The channel is not open.
    pub fn recover(&mut self, now: Ms, holder: Holder) -> Result<(), Closed> {
        let all = self.session(holder)?.channel.settle(0, true);
        self.put_back(now, &all.unwrap_or_default(), true);
        Ok(())
    }

    fn put_back(&mut self, now: Ms, outs: &[Out], requeue: bool) {
        for out in outs {
            let Some(queue) = self.queues.get_mut(&out.queue) else {
                continue;
            };
            if !requeue {
                queue.broker.drop_message(now, out.receipt);
                self.dead_letter(now, &out.queue, out.receipt.message, DeadReason::Rejected);
            } else if let Settling::GivenUp(given_up) = queue.broker.nack(now, out.receipt) {
                let place = given_up.message();
                self.dead_letter(now, &out.queue, place, DeadReason::DeliveryLimit);
            }
        }
        self.give_credit(now, outs);
    }

    /// What a tag stands for; an unknown one costs the channel.
    fn take_tags(
        &mut self,
        now: Ms,
        holder: Holder,
        tag: u64,
        multiple: bool,
    ) -> Result<Vec<Out>, Closed> {
        let channel: &mut Channel<Out> = &mut self.session(holder)?.channel;
        match channel.settle(tag, multiple) {
            Ok(outs) => Ok(outs),
            Err(_) if broken!(UnknownTagIgnored) => Ok(Vec::new()),
            Err(_) => self.refuse(now, holder, Closed::PreconditionFailed),
        }
    }

    fn give_credit(&mut self, now: Ms, outs: &[Out]) {
        for out in outs {
            if let Some(consumer) = out.consumer {
                self.unblock(&out.queue, consumer);
            }
        }
        for out in outs {
            self.dispatch(now, &out.queue);
        }
    }
}
