//! The ports of the pipeline, as the simulator offers them to one incarnation of one instance.

mod broker;
mod call;
mod coordinator;
mod database;
mod downstream;
mod executors;
mod lock;
mod runtime;
mod waiting;

use crate::stage::Execution;
use crate::world::World;
use scheduler::ports::Ports;
use std::sync::Arc;

/// Sees the world from inside one incarnation of one instance.
///
/// After the execution nobody is there any more: calls are never answered, and nothing is told.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) execution: Execution,
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
}

impl Window {
    /// Does something with the world, if it is still there.
    fn with<R>(&self, act: impl FnOnce(&mut World) -> R) -> Option<R> {
        self.execution.with(act)
    }

    /// All ports.
    pub(crate) fn ports(self) -> Ports {
        let window = Arc::new(self);
        Ports {
            runtime: window.clone(),
            clock: window.clone(),
            journal: window.clone(),
            database: window.clone(),
            broker: window.clone(),
            locks: window.clone(),
            coordinator: window.clone(),
            downstream: window.clone(),
            executors: window,
        }
    }
}
