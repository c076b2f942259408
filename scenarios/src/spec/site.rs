//! A strike point: where in an execution a fault can begin.

use evidence::{InstanceId, Slot};
use serde::{Deserialize, Serialize};

/// When, around a step, a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Phase {
    /// Before the step begins.
    Before = 0,
    /// The request is about to travel (for `timer.wait`: asleep).
    Request = 1,
    /// The server did it and the reply is about to travel (for `timer.wait`: awake, not yet
    /// fired).
    Done = 2,
    /// The reply has arrived.
    Reply = 3,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Phase; 4] = [Phase::Before, Phase::Request, Phase::Done, Phase::Reply];

    /// As written in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Before => "before",
            Phase::Request => "request",
            Phase::Done => "done",
            Phase::Reply => "reply",
        }
    }
}

/// The run that a site belongs to.
///
/// Written `report#2` or `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunRef {
    /// The step serves no single run (`-`).
    None,
    /// The run of this slot.
    Slot(Slot),
}

/// A strike point, counted over all incarnations of the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The instance, by its place in the cast.
    pub instance: InstanceId,
    /// The step, by its number.
    pub step: u8,
    /// The run.
    pub run: RunRef,
    /// Which occurrence of (instance, step, run), from 1.
    pub n: u16,
    /// Around it, when.
    pub phase: Phase,
}
