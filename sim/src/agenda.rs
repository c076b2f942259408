//! What is going to happen, in a total order by (time, instance, sequence).

use crate::calls::CallKey;
use crate::tasks::TaskKey;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Milliseconds since the scenario's epoch.
pub(crate) type Ms = u64;

/// Something that is going to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A task's sleep is over.
    Wake(TaskKey),
    /// A call leaves its instance (after a pause before it).
    Depart(CallKey),
    /// A call's request reaches its server.
    Arrive(CallKey),
    /// A duplicated request reaches its server a second time.
    ArriveAgain(CallKey),
    /// A call's reply reaches its instance.
    Answer(CallKey),
    /// Nobody will answer the call any more, and its time is up.
    Expire(CallKey),
    /// It is a poller's time to poll.
    Poll(usize),
    /// A paused instance goes on.
    Resume(u8),
    /// An instance starts, or is back after a crash or a stop.
    Start(u8),
    /// An instance that was asked to stop is stopped for good.
    StopGraceOver(u8, u16),
    /// The deadline of a delivery.
    AckDeadline {
        /// Place of the message in the broker.
        message: u32,
        /// The delivery that the deadline belongs to.
        delivery: u32,
    },
    /// A deferred message becomes available.
    Available {
        /// Place of the message in the broker.
        message: u32,
    },
    /// The broker is back after a restart.
    BrokerUp,
    /// The downstream has finished the effect of this request.
    EffectDone(u32),
    /// The database notices that an open transaction's client is gone or gave up.
    Abandon(u32),
}

impl Action {
    /// Whether a paused instance does this only when it goes on.
    pub(crate) const fn belongs_to_instance(&self) -> bool {
        matches!(
            self,
            Action::Wake(_)
                | Action::Depart(_)
                | Action::Answer(_)
                | Action::Expire(_)
                | Action::Poll(_)
        )
    }
}

/// An action, when, in which instance, and after which earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: Ms,
    pub(crate) instance: u8,
    pub(crate) sequence: u32,
    pub(crate) action: Action,
}

impl Ord for Entry {
    /// Reversed: the heap gives the greatest first, and we want the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.instance, other.sequence).cmp(&(self.at, self.instance, self.sequence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The event heap.
pub(crate) struct Agenda {
    heap: BinaryHeap<Entry>,
    sequence: u32,
    /// Entries that nobody waits for any more, by their sequence.
    cancelled: Vec<u32>,
}

impl Agenda {
    /// Nothing is going to happen.
    pub(crate) fn new() -> Self {
        Agenda {
            heap: BinaryHeap::with_capacity(64),
            sequence: 0,
            cancelled: Vec::new(),
        }
    }

    /// Nothing is going to happen, as after [`Agenda::new`].
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.sequence = 0;
        self.cancelled.clear();
    }

    /// Adds an action; gives the number by which it can be cancelled.
    pub(crate) fn add(&mut self, at: Ms, instance: u8, action: Action) -> u32 {
        self.sequence += 1;
        self.heap.push(Entry {
            at,
            instance,
            sequence: self.sequence,
            action,
        });
        self.sequence
    }

    /// The action will not happen: not even its moment will be reached for its sake.
    pub(crate) fn cancel(&mut self, sequence: u32) {
        self.cancelled.push(sequence);
    }

    /// The next action, removed.
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        self.drop_cancelled();
        self.heap.pop()
    }

    /// When the next action is due.
    pub(crate) fn next_at(&mut self) -> Option<Ms> {
        self.drop_cancelled();
        self.heap.peek().map(|entry| entry.at)
    }

    /// The next action, left where it is.
    pub(crate) fn peek(&mut self) -> Option<Entry> {
        self.drop_cancelled();
        self.heap.peek().copied()
    }

    /// Everything that is going to happen, in order.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let live = |entry: &&Entry| !self.cancelled.contains(&entry.sequence);
        let mut entries: Vec<Entry> = self.heap.iter().filter(live).copied().collect();
        entries.sort_unstable_by(|one, other| other.cmp(one));
        entries
    }

    fn drop_cancelled(&mut self) {
        while !self.cancelled.is_empty()
            && let Some(next) = self.heap.peek()
            && let Some(place) = self
                .cancelled
                .iter()
                .position(|cancelled| *cancelled == next.sequence)
        {
            self.cancelled.swap_remove(place);
            self.heap.pop();
        }
    }
}
