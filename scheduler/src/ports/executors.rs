//! Executors that are called one by one, as XXL-JOB's admin calls them: no queue lies between.

use super::{At, CallError, Envelope, Fut, Key};
use evidence::{InstanceId, MessageId, TimerId};

/// A run that one executor is asked to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The run.
    pub envelope: Envelope,
    /// The row of [`crate::tables::CALLS`] that the executor reports to (XXL-JOB's logId).
    pub row: Key,
    /// The identity of the message that the call is; whoever makes the call leaves it to the port.
    pub message: MessageId,
}

/// What an executor is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Whether it is there.
    Beat,
    /// Whether it has nothing of this timer at work or waiting.
    Idle(TimerId),
    /// To execute a run.
    Run(Call),
}

/// What an executor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Yes: it is there, idle, or has taken the call.
    Yes,
    /// It is at work on the timer.
    Busy,
    /// The block strategy dropped the call.
    Discarded,
    /// The same call waits already.
    Repeated,
}

/// Names what an executor was asked until it has said something, and the call that it took after
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asking(pub u32);

/// What has come to an executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What it is asked.
    pub ask: Ask,
    /// Which arrival of the message it is, from 1: the network may bring one twice. 0 where it is
    /// no call.
    pub delivery: u32,
    /// To be answered.
    pub asking: Asking,
}

/// The executors, as one instance of the set-up sees them.
pub trait Executors: Send + Sync {
    /// Asks one executor. Each call of a run is a message of its own.
    fn ask<'a>(&'a self, at: At<'a>, to: InstanceId, ask: Ask) -> Fut<'a, Result<Said, CallError>>;

    /// Waits inside an executor for whatever comes next.
    fn next(&self) -> Fut<'_, Asked>;

    /// What the executor says to it.
    fn say(&self, asking: Asking, said: Said);

    /// A call that was taken is over, and nothing of it is left in the executor.
    fn over(&self, asking: Asking);
}
