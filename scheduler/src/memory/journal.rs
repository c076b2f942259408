//! Where events go: into memory, or nowhere.

use super::lock;
use crate::ports::{At, Clock, Journal};
use evidence::{Event, InstanceId, What};
use std::sync::{Arc, Mutex};

/// Keeps every event, as of one incarnation of one instance.
pub struct MemoryJournal {
    clock: Arc<dyn Clock>,
    instance: InstanceId,
    incarnation: u16,
    events: Mutex<Vec<Event>>,
}

impl MemoryJournal {
    /// An empty journal of this incarnation of this instance.
    pub fn new(clock: Arc<dyn Clock>, instance: InstanceId, incarnation: u16) -> Self {
        MemoryJournal {
            clock,
            instance,
            incarnation,
            events: Mutex::default(),
        }
    }

    /// What has been recorded so far, in order.
    pub fn events(&self) -> Vec<Event> {
        lock(&self.events).clone()
    }
}

impl Journal for MemoryJournal {
    fn record(&self, at: At<'_>, what: What) {
        lock(&self.events).push(Event {
            at: self.clock.now(),
            instance: self.instance,
            incarnation: self.incarnation,
            step: at.step,
            what,
            ids: at.ids.clone(),
        });
    }
}

/// Keeps nothing: for benches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Journal for Silence {
    fn record(&self, _: At<'_>, _: What) {}
}
