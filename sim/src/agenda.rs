//! What is going to happen, in a total order by (time, instance, sequence).

use crate::calls::CallKey;
use crate::tasks::TaskKey;
use rustc_hash::FxHashSet;
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
    /// An instance is asked to stop for good: its successor has taken over.
    Retire(u8),
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
    /// The broker stops believing that a silent consumer is alive.
    SessionOver,
    /// The broker is back after a restart.
    BrokerUp,
    /// The database is back after a restart.
    DatabaseUp,
    /// The lock service is back after a restart.
    LockUp,
    /// The downstream has finished the effect of this request.
    EffectDone(u32),
    /// The database looks after those who wait.
    DatabaseDue,
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

impl Entry {
    /// Time, instance and sequence as one number of the same order.
    const fn moment(&self) -> u128 {
        (self.at as u128) << 64 | (self.instance as u128) << 32 | self.sequence as u128
    }
}

impl Ord for Entry {
    /// Reversed: the heap gives the greatest first, and we want the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.moment().cmp(&self.moment())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How many entries are kept in order. What is about to happen soon is asked for again and again;
/// of what is far ahead it is enough to know the first.
const NEAR: usize = 32;

/// What is going to happen.
pub(crate) struct Agenda {
    /// The first entries, the very first at the end.
    near: Vec<Entry>,
    /// All others; none is before any of the near ones.
    far: BinaryHeap<Entry>,
    sequence: u32,
    /// Sleeps that nobody waits for any more, by their sequence.
    cancelled: FxHashSet<u32>,
}

impl Agenda {
    /// Nothing is going to happen.
    pub(crate) fn new() -> Self {
        Agenda {
            near: Vec::with_capacity(NEAR + 1),
            far: BinaryHeap::new(),
            sequence: 0,
            cancelled: FxHashSet::default(),
        }
    }

    /// Nothing is going to happen, as after [`Agenda::new`].
    pub(crate) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.sequence = 0;
        self.cancelled.clear();
    }

    /// Adds an action; gives the number by which it can be cancelled.
    pub(crate) fn add(&mut self, at: Ms, instance: u8, action: Action) -> u32 {
        self.sequence += 1;
        self.put(Entry {
            at,
            instance,
            sequence: self.sequence,
            action,
        });
        self.sequence
    }

    fn put(&mut self, entry: Entry) {
        if self
            .far
            .peek()
            .is_some_and(|first| first.moment() < entry.moment())
        {
            self.far.push(entry);
            return;
        }
        // Most entries are soon: their place is near the end.
        let moment = entry.moment();
        let later = self.near.iter().rposition(|near| near.moment() > moment);
        self.near.insert(later.map_or(0, |place| place + 1), entry);
        if self.near.len() > NEAR {
            self.far.push(self.near.remove(0));
        }
    }

    /// How many actions were added.
    pub(crate) const fn added(&self) -> u32 {
        self.sequence
    }

    /// The sleep will not end: not even its moment will be reached for its sake.
    pub(crate) fn cancel(&mut self, sequence: u32) {
        self.cancelled.insert(sequence);
    }

    /// The next action, removed.
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let first = self.first();
        self.near.pop();
        first
    }

    /// When the next action is due.
    pub(crate) fn next_at(&mut self) -> Option<Ms> {
        self.first().map(|entry| entry.at)
    }

    /// The next action, left where it is.
    pub(crate) fn peek(&mut self) -> Option<Entry> {
        self.first()
    }

    /// Everything that is going to happen, in order.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let live = |entry: &&Entry| !self.cancelled.contains(&entry.sequence);
        let all = self.near.iter().chain(&self.far);
        let mut entries: Vec<Entry> = all.filter(live).copied().collect();
        entries.sort_unstable_by(|one, other| other.cmp(one));
        entries
    }

    /// The next action; what was cancelled before it is gone.
    fn first(&mut self) -> Option<Entry> {
        loop {
            if self.near.is_empty() {
                self.near.push(self.far.pop()?);
            }
            let first = *self.near.last()?;
            let sleeps = matches!(first.action, Action::Wake(_));
            if self.cancelled.is_empty() || !sleeps || !self.cancelled.remove(&first.sequence) {
                return Some(first);
            }
            self.near.pop();
        }
    }
}
