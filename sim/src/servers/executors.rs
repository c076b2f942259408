//! What executors are asked: on its way into their memory, and the calls that are in it.
//!
//! An executor is a process of its own, so this is no model of a server but the place between two
//! processes. What is in the memory of one is gone with it.

use crate::calls::CallKey;
use crate::tasks::TaskKey;
use evidence::{MessageId, Slot};
use scheduler::ports::{Ask, Asked, Asking};
use std::collections::VecDeque;

/// What a call asks of an executor.
#[derive(Clone, Debug)]
pub(crate) struct ExecutorsRequest {
    /// Its place in the cast.
    pub(crate) to: u8,
    pub(crate) ask: Ask,
}

/// Where something that arrived stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The executor has not said anything yet.
    Open,
    /// A call that it took and that is not over.
    Taken,
    /// Nothing is left of it.
    Over,
}

/// Something that arrived at an executor.
struct Arrival {
    to: u8,
    call: CallKey,
    /// Whether it is a copy, whose answer goes nowhere.
    again: bool,
    slot: Option<Slot>,
    message: Option<MessageId>,
    delivery: u32,
    state: State,
}

/// Who waits for an answer: of which call, and whether it is a copy's.
pub(crate) struct Asker {
    pub(crate) call: CallKey,
    pub(crate) again: bool,
    pub(crate) to: u8,
    /// The message, where it is a call, and which arrival of it this is.
    pub(crate) message: Option<(MessageId, u32)>,
}

/// What is on its way into executors, and in them.
#[derive(Default)]
pub(crate) struct Executors {
    arrivals: Vec<Arrival>,
    /// By message: how often it has arrived.
    deliveries: Vec<u32>,
    /// By instance: what it has not looked at.
    inboxes: Vec<VecDeque<Asked>>,
    /// By instance: the task that waits for more.
    waiting: Vec<Option<TaskKey>>,
}

impl Executors {
    /// Nothing was asked.
    pub(crate) fn open(&mut self, instances: usize) {
        self.arrivals.clear();
        self.deliveries.clear();
        self.inboxes.iter_mut().for_each(VecDeque::clear);
        self.inboxes.resize_with(instances, VecDeque::new);
        self.waiting.clear();
        self.waiting.resize(instances, None);
    }

    /// The identity of a call that is about to be made.
    pub(crate) fn mint(&mut self) -> MessageId {
        self.deliveries.push(0);
        MessageId(u32::try_from(self.deliveries.len()).unwrap_or(u32::MAX))
    }

    /// Something has arrived; gives the task that waits for it.
    pub(crate) fn arrive(
        &mut self,
        call: CallKey,
        request: ExecutorsRequest,
        again: bool,
    ) -> Option<TaskKey> {
        let ExecutorsRequest { to, ask } = request;
        let (slot, message) = match &ask {
            Ask::Run(call) => (call.envelope.slot.truth(), Some(call.message)),
            Ask::Beat | Ask::Idle(_) => (None, None),
        };
        let delivery = message.map_or(0, |message| self.count(message));
        let asking = Asking(u32::try_from(self.arrivals.len()).unwrap_or(u32::MAX));
        self.arrivals.push(Arrival {
            to,
            call,
            again,
            slot,
            message,
            delivery,
            state: State::Open,
        });
        let asked = Asked {
            ask,
            delivery,
            asking,
        };
        let to = usize::from(to);
        self.inboxes.get_mut(to)?.push_back(asked);
        self.waiting.get(to).copied().flatten()
    }

    fn count(&mut self, message: MessageId) -> u32 {
        let at = (message.0 as usize).saturating_sub(1);
        self.deliveries.get_mut(at).map_or(1, |count| {
            *count += 1;
            *count
        })
    }

    /// What an executor looks at next; without any, this task of it waits.
    pub(crate) fn next(&mut self, instance: u8, task: Option<TaskKey>) -> Option<Asked> {
        let place = usize::from(instance);
        let asked = self.inboxes.get_mut(place)?.pop_front();
        if let Some(waiting) = self.waiting.get_mut(place) {
            *waiting = task.filter(|_| asked.is_none());
        }
        asked
    }

    /// The executor has said something, and whether it took a call with it; gives who hears it.
    pub(crate) fn said(&mut self, asking: Asking, takes: bool) -> Option<Asker> {
        let arrival = self.arrivals.get_mut(asking.0 as usize)?;
        if arrival.state != State::Open {
            return None;
        }
        arrival.state = match takes && arrival.message.is_some() {
            true => State::Taken,
            false => State::Over,
        };
        let delivery = arrival.delivery;
        Some(Asker {
            call: arrival.call,
            again: arrival.again,
            to: arrival.to,
            message: arrival.message.map(|message| (message, delivery)),
        })
    }

    /// A call that was taken is over.
    pub(crate) fn over(&mut self, asking: Asking) {
        if let Some(arrival) = self.arrivals.get_mut(asking.0 as usize) {
            arrival.state = State::Over;
        }
    }

    /// The memory of an executor is gone; gives who waits for an answer that will not come.
    pub(crate) fn lose(&mut self, instance: u8) -> Vec<Asker> {
        let place = usize::from(instance);
        if let Some(inbox) = self.inboxes.get_mut(place) {
            inbox.clear();
        }
        if let Some(waiting) = self.waiting.get_mut(place) {
            *waiting = None;
        }
        let mut askers = Vec::new();
        for arrival in &mut self.arrivals {
            if arrival.to != instance {
                continue;
            }
            if arrival.state == State::Open {
                askers.push(Asker {
                    call: arrival.call,
                    again: arrival.again,
                    to: arrival.to,
                    message: None,
                });
            }
            arrival.state = State::Over;
        }
        askers
    }

    /// The slots of the calls that executors have in their memory.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Slot> {
        let taken = self
            .arrivals
            .iter()
            .filter(|arrival| arrival.state == State::Taken);
        taken.filter_map(|arrival| arrival.slot)
    }

    /// Whether nothing is in them, and nothing waits to be looked at.
    pub(crate) fn are_quiet(&self) -> bool {
        let over = |arrival: &Arrival| arrival.state == State::Over;
        self.arrivals.iter().all(over)
    }

    /// The tasks that wait to be asked something, by instance.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (u8, TaskKey)> {
        let waiting = (0..).zip(&self.waiting);
        waiting.filter_map(|(instance, task)| Some((instance, (*task)?)))
    }
}
