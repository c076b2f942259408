//! What is going to happen, in the simulator's order: by (time, instance, sequence).

use evidence::{MessageId, Step, Timestamp};
use scheduler::steps;
use std::cmp::Ordering;

/// Milliseconds since the epoch.
pub type Ms = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Resume,
    Claim,
    Publish,
    Mark,
    Deliver,
    Enter,
    Perform,
    Finish,
    Ack,
}

impl Call {
    pub const fn step(self) -> &'static Step {
        match self {
            Call::Resume => &steps::DISPATCH_RESUME,
            Call::Claim => &steps::DISPATCH_CLAIM,
            Call::Publish => &steps::BROKER_PUBLISH,
            Call::Mark => &steps::OUTBOX_MARK,
            Call::Deliver => &steps::BROKER_DELIVER,
            Call::Enter => &steps::GUARD_ENTER,
            Call::Perform => &steps::DOWNSTREAM_PERFORM,
            Call::Finish => &steps::GUARD_FINISH,
            Call::Ack => &steps::BROKER_ACK,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Resumed(Timestamp),
    Claimed(bool),
    Published,
    Marked,
    Delivered,
    Entered(Option<u32>),
    Performed,
    Finished(bool),
    Acked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Start,
    SlotDue,
    Arrive(Call),
    Answer(Answer),
    /// A poller's instant.
    Poll,
    /// The attempt with this token is still at work.
    Heartbeat(u64),
    EffectDone,
    AckDeadline(MessageId, u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub at: Ms,
    pub instance: u8,
    pub sequence: u32,
    pub action: Action,
}

impl Ord for Entry {
    /// Reversed: the heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.instance, other.sequence).cmp(&(self.at, self.instance, self.sequence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
