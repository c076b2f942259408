//! The world that this thread is executing, for the ports through which the pipeline sees it.
//!
//! An execution never leaves its thread, so that nothing of it needs a lock. Between two
//! executions a thread keeps the world that it has used, emptied: what an execution allocates, the
//! next one finds.

use crate::world::World;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static STAGE: RefCell<Option<Box<World>>> = const { RefCell::new(None) };
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static SPARE: Cell<Option<Box<World>>> = const { Cell::new(None) };
}

/// Which execution a port belongs to: what code of a user's own has kept of an earlier one must not
/// reach into the next. Those of the pipeline alone have no number, since nothing outlives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Execution(u64);

impl Execution {
    /// One of the pipeline alone.
    pub(crate) const OWN: Execution = Execution(0);

    /// One with code of somebody else's.
    pub(crate) fn foreign() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Execution(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Does something with the world of this execution; `None` if it is over, or not on this
    /// thread.
    pub(crate) fn with<R>(self, act: impl FnOnce(&mut World) -> R) -> Option<R> {
        on_stage(|world| (world.execution == self).then(|| act(world))).flatten()
    }
}

/// Does something with the world that this thread is executing.
fn on_stage<R>(act: impl FnOnce(&mut World) -> R) -> Option<R> {
    // A port that is used while the world is at work (by a judgement of a user's own downstream)
    // finds nobody, as does one that is used when the thread ends.
    let act = |stage: &RefCell<Option<Box<World>>>| {
        let mut stage = stage.try_borrow_mut().ok()?;
        stage.as_deref_mut().map(act)
    };
    STAGE.try_with(act).ok().flatten()
}

/// A world that is on stage until this ends or is dropped.
pub(crate) struct Playing {
    /// What this thread was executing before: an execution inside of a handler.
    outer: Option<Box<World>>,
    over: bool,
}

impl Playing {
    /// Puts a world on stage.
    pub(crate) fn new(world: Box<World>) -> Self {
        let outer = STAGE.with(|stage| stage.replace(Some(world)));
        Playing { outer, over: false }
    }

    /// Does something with it.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut World) -> R) -> Option<R> {
        on_stage(act)
    }

    /// Takes it off the stage.
    pub(crate) fn ends(mut self) -> Option<Box<World>> {
        self.take()
    }

    fn take(&mut self) -> Option<Box<World>> {
        if std::mem::replace(&mut self.over, true) {
            return None;
        }
        let outer = self.outer.take();
        let take = |stage: &RefCell<Option<Box<World>>>| {
            let mut stage = stage.try_borrow_mut().ok()?;
            std::mem::replace(&mut *stage, outer)
        };
        STAGE.try_with(take).ok().flatten()
    }
}

/// An execution that was cut short by a panic.
impl Drop for Playing {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// The world that this thread has used last.
pub(crate) fn spare() -> Option<Box<World>> {
    SPARE.take()
}

/// Keeps an empty world for the next execution.
pub(crate) fn keep(world: Box<World>) {
    SPARE.set(Some(world));
}

/// Does something with bytes that the thread keeps for the next execution.
pub(crate) fn with_buffer<R>(act: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut buffer = BUFFER.take();
    let result = act(&mut buffer);
    BUFFER.set(buffer);
    result
}
