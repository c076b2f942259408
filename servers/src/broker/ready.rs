//! The messages that wait, in the order in which they are handed over.

use super::rules::Order;
use std::collections::VecDeque;

/// Fresh messages, and before them those that came back to the front.
#[derive(Clone, Debug, Default)]
pub(super) struct Ready {
    returned: VecDeque<u32>,
    fresh: VecDeque<u32>,
}

impl Ready {
    pub(super) fn with_capacity(messages: usize) -> Self {
        Ready {
            returned: VecDeque::new(),
            fresh: VecDeque::with_capacity(messages),
        }
    }

    pub(super) fn clear(&mut self) {
        self.returned.clear();
        self.fresh.clear();
    }

    /// A message that was never handed over.
    pub(super) fn push(&mut self, place: u32) {
        self.fresh.push_back(place);
    }

    /// A message comes back.
    pub(super) fn put_back(&mut self, place: u32, order: Order) {
        match order {
            Order::Back => self.fresh.push_back(place),
            Order::Front => self.returned.push_back(place),
            Order::Place => {
                let before = self.fresh.partition_point(|other| *other < place);
                self.fresh.insert(before, place);
            }
        }
    }

    /// In the order in which they would be handed over; `true`: it came back.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, bool)> {
        let returned = self.returned.iter().map(|place| (*place, true));
        returned.chain(self.fresh.iter().map(|place| (*place, false)))
    }

    /// The first one; `true`: it came back.
    pub(super) fn first(&self) -> Option<(u32, bool)> {
        self.iter().next()
    }

    /// Takes away the one at this place of [`Ready::iter`].
    pub(super) fn remove(&mut self, at: usize) {
        if at < self.returned.len() {
            self.returned.remove(at);
        } else {
            self.fresh.remove(at - self.returned.len());
        }
    }

    pub(super) fn pop(&mut self) {
        if self.returned.pop_front().is_none() {
            self.fresh.pop_front();
        }
    }

    /// Takes away every entry of a message.
    pub(super) fn forget(&mut self, place: u32) {
        self.returned.retain(|other| *other != place);
        self.fresh.retain(|other| *other != place);
    }
}
