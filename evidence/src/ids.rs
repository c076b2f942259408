//! Who and what an event is about: timers, slots, runs, messages, traces.
//!
//! The one rule that everything rests on: **runKey = timerId + scheduledTime**. Retries,
//! redeliveries and recovery reuse it, so that two effects of one run can be recognised as such.

use crate::RunKey;
use std::fmt;
use std::sync::Arc;

/// Identity of one slot: the `ordinal`-th planned time (from 1) of timer number `timer`.
///
/// This is hidden truth: the judge and the simulator read it, nothing in the pipeline may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Position of the timer in the scenario, from 0.
    pub timer: u16,
    /// Which of the timer's planned times, from 1.
    pub ordinal: u32,
}

impl Slot {
    /// Stands in verdicts for the slot of an effect that names none; no timer and no ordinal is it.
    pub const NOWHERE: Slot = Slot {
        timer: u16::MAX,
        ordinal: 0,
    };
}

/// A slot that travels with messages and calls without being readable on the way.
///
/// Guards, brokers and downstreams hand it on; only the judge and the simulator may look inside
/// (`truth`), which a lint of the `scheduler` crate enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SlotTag(Option<Slot>);

impl SlotTag {
    /// The tag of something that belongs to no slot.
    pub const NONE: SlotTag = SlotTag(None);

    /// Seals a slot.
    pub const fn seal(slot: Slot) -> Self {
        SlotTag(Some(slot))
    }

    /// What is inside: for the judge and the simulator only.
    pub const fn truth(self) -> Option<Slot> {
        self.0
    }
}

/// Name of a timer, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(Arc<str>);

impl TimerId {
    /// Takes the user's text as it is; see [`RunKey::new`] for how it is written in a key.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        TimerId(text.into())
    }

    /// The user's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The user's text, shared.
    pub fn text(&self) -> &Arc<str> {
        &self.0
    }
}

impl fmt::Display for TimerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A message's identity, given by the broker at each acceptance. Prints as `m1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u32);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

/// Minted when a slot becomes a run and kept by everything that follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u64);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// An instance (process) of the scenario, by its position in the cast, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u8);

impl InstanceId {
    /// The broker, where it acts by itself: a message that is given up is nobody's call.
    pub const BROKER: InstanceId = InstanceId(u8::MAX);
}

/// All identifiers that an event, a call or a log line carries.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Ids {
    /// The slot, sealed.
    pub slot: SlotTag,
    /// The run.
    pub run: Option<RunKey>,
    /// The message that brought the run here.
    pub message: Option<MessageId>,
    /// The trace that started when the timer fired.
    pub trace: Option<TraceId>,
    /// Delivery count of the message, from 1; 0 where there is no delivery.
    pub delivery: u32,
    /// Attempt of the handler for this run (retryCount), from 1; 0 before the first.
    pub attempt: u32,
}
