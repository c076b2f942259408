//! The ports of the pipeline, as the simulator offers them to one incarnation of one instance.

mod broker;
mod call;
mod database;
mod downstream;
mod lock;
mod runtime;

use crate::engine::Shared;
use scheduler::ports::Ports;
use std::sync::Arc;

/// Sees the world from inside one incarnation of one instance.
#[derive(Clone)]
pub(crate) struct Window {
    pub(crate) shared: Shared,
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
}

impl Window {
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
            downstream: window,
        }
    }
}
