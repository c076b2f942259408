//! Watching a pipeline at work: log lines, counts, durations, and how each timer is doing.
//!
//! When a job ran twice, five identifiers in every log line tell the layer at which it happened
//! (S0.17): the timer, the runKey, the message, the trace and the retry count. An [`Observer`]
//! stands between the pipeline and its ports and tells
//!
//! - the `tracing` subscriber of the process of the start, the end and the error of every step, and
//!   of everything that the journal is told, with all identifiers (the module [`events`]);
//! - the `metrics` recorder of the process of what each timer and each guard does: counts and
//!   durations (the module [`meters`]);
//! - whoever asks, which slot a timer had last, how its last attempt ended and which slot is next
//!   ([`Observer::health`]).
//!
//! It sees what passes through the ports, so that it is the same in the simulator, beside the
//! in-memory servers and, later, beside real ones. It changes nothing: an execution that is watched
//! has the history of one that is not. Without an observer nothing of this costs anything.
//!
//! ```
//! use runkey_scheduler::observe::Observer;
//! use runkey_scheduler::{Instance, Timer};
//! use evidence::Timestamp;
//!
//! fn in_production(instance: &Instance, timers: &[Timer], now: Timestamp) {
//!     let observer = Observer::new("state_machine");
//!     let instance = observer.watch(instance);
//!     // .. start the pipeline in `instance`; then, whenever somebody asks:
//!     for health in observer.health(timers, now) {
//!         println!("{}: last {:?}, next {:?}", health.timer, health.last_slot, health.next_slot);
//!     }
//! }
//! # let _ = in_production;
//! ```

pub mod events;
mod health;
pub mod meters;
mod ports;

pub use health::Health;

use crate::Instance;
use crate::ports::{Clock, Ports, Runtime};
use crate::timer::Timer;
use evidence::Timestamp;
use health::Seen;
use std::sync::{Arc, Mutex, PoisonError};

/// Watches the instances of one process.
#[derive(Clone)]
pub struct Observer {
    guard: Arc<str>,
    seen: Arc<Mutex<Seen>>,
}

impl Observer {
    /// Nothing was seen yet. `guard` is the name under which the guard's numbers are counted.
    pub fn new(guard: impl Into<Arc<str>>) -> Self {
        Observer {
            guard: guard.into(),
            seen: Arc::default(),
        }
    }

    /// The same instance, watched: a pipeline that is started in it is seen.
    pub fn watch(&self, instance: &Instance) -> Instance {
        let ports = &instance.ports;
        let who = Arc::new(Who {
            instance: instance.name.clone(),
            incarnation: instance.incarnation,
            guard: self.guard.clone(),
            clock: ports.clock.clone(),
            runtime: ports.runtime.clone(),
            seen: self.seen.clone(),
            running: Mutex::default(),
        });
        Instance {
            ports: Ports {
                runtime: Watched::around(&ports.runtime, &who),
                clock: ports.clock.clone(),
                journal: Watched::around(&ports.journal, &who),
                database: Watched::around(&ports.database, &who),
                broker: Watched::around(&ports.broker, &who),
                locks: Watched::around(&ports.locks, &who),
                coordinator: Watched::around(&ports.coordinator, &who),
                executors: Watched::around(&ports.executors, &who),
                downstream: Watched::around(&ports.downstream, &who),
            },
            ..instance.clone()
        }
    }

    /// How these timers are doing, as far as this process has seen: a scheduler sees slots, an
    /// executor sees outcomes. `now` is the time from which the next slot is looked for.
    pub fn health(&self, timers: &[Timer], now: Timestamp) -> Vec<Health> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        timers.iter().map(|timer| seen.health(timer, now)).collect()
    }
}

/// Who does what is seen.
struct Who {
    instance: Arc<str>,
    incarnation: u16,
    guard: Arc<str>,
    clock: Arc<dyn Clock>,
    runtime: Arc<dyn Runtime>,
    seen: Arc<Mutex<Seen>>,
    running: Mutex<meters::Running>,
}

/// A port with an observer in front of it.
struct Watched<P: ?Sized> {
    port: Arc<P>,
    who: Arc<Who>,
}

impl<P: ?Sized> Watched<P> {
    fn around(port: &Arc<P>, who: &Arc<Who>) -> Arc<Self> {
        Arc::new(Watched {
            port: port.clone(),
            who: who.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
