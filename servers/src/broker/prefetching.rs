//! Deliveries that wait in the memory of a consumer, with their deadline running.

use super::delivering::{HandedOver, Prefetched};
use super::{Broker, Delivery, Holder, State};

impl<C: Copy, B: Clone> Broker<C, B> {
    /// A consumer whose holder has something in its memory takes that first, whatever has become
    /// of the message since: nobody tells the client.
    pub(super) fn take_from_buffer(
        &mut self,
        holder: &mut impl FnMut(C) -> Holder,
    ) -> Option<HandedOver<C, B>> {
        if self.buffered.is_empty() {
            return None;
        }
        for at in 0..self.consumers.len() {
            let of = holder(self.consumers[at]);
            let first = self.buffered.iter().position(|ahead| ahead.holder == of);
            if let Some(ahead) = first.and_then(|first| self.buffered.remove(first)) {
                let consumer = self.consumers.remove(at)?;
                return Some(HandedOver::ToConsumer(consumer, self.unbuffered(ahead)?));
            }
        }
        None
    }

    fn unbuffered(&self, ahead: Prefetched) -> Option<Delivery<B>> {
        let message = self.message(ahead.receipt.message)?;
        Some(Delivery {
            receipt: ahead.receipt,
            body: message.body.clone(),
            count: ahead.receipt.delivery,
            counted_before: ahead.counted_before,
            deadline: ahead.deadline,
            prefetched: true,
            flag: self.rules.flag,
        })
    }

    /// The holder with the most room to take messages ahead of its work.
    pub(super) fn who_prefetches(&self) -> Option<Holder> {
        let most = self.rules.prefetch? as usize;
        let held = |of: Holder| {
            let held = |state| matches!(state, State::Unacked { holder, .. } if holder == of);
            self.messages
                .iter()
                .filter(|message| held(message.state))
                .count()
        };
        let with_room = self
            .prefetchers
            .iter()
            .map(|holder| (held(*holder), *holder));
        let first = with_room
            .filter(|(held, _)| *held < most)
            .min_by_key(|(held, _)| *held);
        first.map(|(_, holder)| holder)
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// The memory of these holders is gone.
    pub(super) fn forget_buffers(&mut self, gone: impl Fn(Holder) -> bool) {
        self.buffered.retain(|ahead| !gone(ahead.holder));
        self.prefetchers.retain(|holder| !gone(*holder));
    }

    /// Whether no client has anything in its memory that it has not begun, and no partition is
    /// being dealt.
    pub fn is_quiet(&self) -> bool {
        self.buffered.is_empty()
            && !self.group.is_dealing()
            && self.messages.iter().all(|message| message.copies == 0)
    }

    /// Those who take messages ahead of their work, in the order in which they came.
    pub fn prefetchers(&self) -> impl Iterator<Item = Holder> {
        self.prefetchers.iter().copied()
    }
}
