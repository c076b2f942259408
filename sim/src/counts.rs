//! What an execution took, in numbers that are the same on every machine.

use crate::world::World;

/// What one execution took.
///
/// The simulator keeps these numbers for its own sake; to read them off costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that instances began.
    pub calls: u32,
    /// Polls of tasks.
    pub polls: u64,
    /// Actions put on the agenda: legs of calls, timers, timeouts, deadlines, useful polls.
    pub armed: u32,
}

impl Counts {
    pub(crate) const fn of(world: &World) -> Self {
        Counts {
            calls: world.calls.begun,
            polls: world.polls,
            armed: world.agenda.added(),
        }
    }
}
