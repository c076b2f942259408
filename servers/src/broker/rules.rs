//! What a broker promises, as plain data.

use crate::Ms;

/// Every parameter of the model. [`Rules::default`] keeps a message until it is settled, gives it
/// back never, and knows no duplicates.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    /// When a delivery that is not settled goes back.
    pub redelivery: Redelivery,
    /// After how many counted deliveries a message is given up.
    pub max_deliver: Option<u32>,
    /// What becomes of it then.
    pub then: Then,
    /// When the limit is looked at.
    pub gives_up: GivesUp,
    /// Which ends of a delivery count towards the limit.
    pub counts: Counts,
    /// Whether a message is settled by being handed over (at most once).
    pub settled_on_delivery: bool,
    /// Whether a consumer that defers such a message puts it back into the queue itself.
    pub puts_back: bool,
    /// Whose ack settles a message.
    pub fencing: Fencing,
    /// Whether a consumer learns that its ack was refused.
    pub refusals: Refusals,
    /// Whether a nack, a deferral or a renewal by a superseded delivery acts all the same.
    pub stale_nack_acts: bool,
    /// What an ack says whose connection was replaced.
    pub stale_tag: StaleTag,
    /// How repeated publishes are recognised.
    pub dedup: Option<DedupRules>,
    /// When the deliveries of a consumer that is gone go back.
    pub crash: Crash,
    /// Whether all messages are lost when the broker restarts.
    pub loses_on_restart: bool,
    /// What a delivery says of deliveries before it.
    pub flag: RedeliveredFlag,
    /// How many deliveries one consumer takes ahead of its work; their deadline runs while they
    /// wait for it.
    pub prefetch: Option<u32>,
    /// How many messages may be unsettled before no fresh one is handed over.
    pub max_unsettled: Option<u32>,
    /// Where a nacked message goes.
    pub nacked: Order,
    /// Where a message goes that nobody settled.
    pub lost: Order,
    /// Who holds a deferred message.
    pub delayed: Delayed,
    /// What a publisher knows once its publish is confirmed.
    pub confirm: Confirm,
    /// How often what was written goes to the disk; `None`: before it is confirmed.
    pub fsync_every: Option<Ms>,
    /// Partitions, each read in order by one member of a group.
    pub partitions: Option<u32>,
}

/// The redelivery clock.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Redelivery {
    /// How long a delivery may stay unsettled; `None`: as long as its connection lives.
    pub after: Option<Ms>,
    /// The same by number of the delivery, in place of `after`; the last one holds on.
    pub backoff: Vec<Ms>,
    /// How often the broker looks; `None`: at once.
    pub checked_every: Option<Ms>,
    /// Whether the deadline ends the whole connection of the consumer, with all that it holds.
    pub closes: bool,
    /// Whether a renewal does not act.
    pub not_renewable: bool,
    /// How often the product's own consumer renews while it works; `None`: only where it is told.
    pub renewed_every: Option<Ms>,
}

impl Redelivery {
    /// How long this delivery (from 1) may stay unsettled.
    pub fn length(&self, delivery: u32) -> Option<Ms> {
        let last = self.backoff.len().saturating_sub(1);
        let at = (delivery.saturating_sub(1) as usize).min(last);
        self.backoff.get(at).copied().or(self.after)
    }

    /// When a delivery goes back that began at `now` on a connection opened at `since`.
    pub fn deadline(&self, now: Ms, since: Ms, delivery: u32) -> Option<Ms> {
        let over = now + self.length(delivery)?;
        Some(match self.checked_every {
            // The first look at which more than the time is over.
            Some(every) if every > 0 => since + ((over - since) / every + 1) * every,
            _ => over,
        })
    }
}

/// What becomes of a message after its last delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Then {
    /// It is parked where a person finds it.
    #[default]
    DeadLetter,
    /// It is gone.
    Drop,
    /// It stays stored, and is never delivered again.
    Keep,
}

/// When a broker looks at the number of deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum GivesUp {
    /// When the message comes back.
    #[default]
    OnReturn,
    /// When it would be handed over once more.
    OnHandOver,
}

/// Which ends of a delivery count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counts {
    /// A nack or a deferral.
    pub nack: bool,
    /// A deadline that has passed.
    pub deadline: bool,
    /// A connection that broke.
    pub disconnect: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            nack: true,
            deadline: true,
            disconnect: true,
        }
    }
}

/// Whose ack settles a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Fencing {
    /// That of any of its deliveries.
    #[default]
    Off,
    /// That of its last delivery, also after the deadline.
    Latest,
    /// That of the delivery that holds it, and of no other.
    Token,
}

/// Whether a consumer learns that its ack was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Refusals {
    /// It is told.
    #[default]
    Told,
    /// It is thanked as if all were well, or there is no answer at all.
    Silent,
}

/// What an ack says whose connection was replaced by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StaleTag {
    /// The receipt names the message: there are no tags.
    #[default]
    NoTags,
    /// The client keeps tags of an old channel from a new one.
    Refused,
    /// The number of the tag, which may belong to another message by now.
    SettlesAnother,
}

/// How repeated publishes are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DedupRules {
    /// How long an id is remembered.
    pub window: Ms,
    /// Among which messages.
    pub scope: DedupScope,
    /// By what.
    pub by: DedupBy,
}

/// Among which messages an id is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DedupScope {
    /// All of the queue.
    #[default]
    Queue,
    /// Those of the same partition or group.
    Partition,
}

/// What tells two publishes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DedupBy {
    /// The id that the producer gives; the body does not matter.
    #[default]
    Id,
    /// The body alone.
    Body,
}

/// When the deliveries of a consumer that is gone go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Crash {
    /// At their deadline.
    #[default]
    AtDeadline,
    /// As soon as the connection breaks.
    OnDisconnect,
    /// When a session without a sign of life is over.
    AfterSession(Ms),
}

/// What a delivery says of deliveries before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RedeliveredFlag {
    /// Their exact number.
    #[default]
    Exact,
    /// Whether there was one; nobody may have worked on it.
    Hint,
    /// Nothing.
    Absent,
}

/// Where a message goes that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// Behind all others.
    #[default]
    Back,
    /// To its place from before.
    Place,
    /// Before all that were never delivered, behind those that came back earlier.
    Front,
}

/// Who holds a deferred message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Delayed {
    /// The broker.
    #[default]
    Broker,
    /// The memory of a worker, as an unsettled delivery whose deadline runs.
    Worker,
}

/// What a publisher knows once its publish is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Confirm {
    /// Nothing: the publish counts as done when it is sent.
    Sent,
    /// The message is in the memory of the broker.
    Received,
    /// It is with the operating system: it outlives the process, not the machine.
    Written,
    /// It is on the disk, or on a quorum of machines.
    #[default]
    Synced,
}
