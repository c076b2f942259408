//! In-memory ports: servers that never fail, in this process, on any runtime.
//!
//! For tests, examples and the dedupe bench; real threads may share every one of them. What goes
//! wrong in the world is the simulator's business: these doubles are correct and quick, and do what
//! their ports promise, no more. A test moves [`ManualTime`] by hand; on a real runtime any
//! [`Clock`](crate::ports::Clock) and [`Runtime`](crate::ports::Runtime) will do.
//!
//! ```
//! use runkey_scheduler as scheduler;
//! use scheduler::memory::{ManualTime, MemoryLocks, block_on};
//! use scheduler::ports::{At, LockService, Token};
//! use scheduler::{Span, steps};
//! use std::sync::Arc;
//!
//! let time = Arc::new(ManualTime::default());
//! let locks = MemoryLocks::new(time.clone());
//! let nobody = evidence::Ids::default();
//! let at = At::new(&steps::LOCK_ACQUIRE, &nobody);
//! let key = "report".into();
//! let take = |token| block_on(locks.set_if_absent(at, &key, Token(token), Some(Span::secs(20))));
//! assert_eq!(take(1), Ok(true));
//! assert_eq!(take(2), Ok(false));
//! time.advance(Span::secs(20));
//! assert_eq!(take(2), Ok(true));
//! ```

#[cfg(test)]
pub(crate) mod bench;
mod block_on;
mod broker;
mod coordinator;
mod database;
mod downstream;
mod executors;
mod journal;
mod locks;
mod runtime;
mod time;

pub use block_on::block_on;
pub use broker::MemoryBroker;
pub use coordinator::MemoryCoordinator;
pub use database::MemoryDatabase;
pub use downstream::{LedgerEntry, MemoryDownstream, Recognises};
pub use executors::NoExecutors;
pub use journal::{MemoryJournal, Silence};
pub use locks::MemoryLocks;
pub use runtime::ManualRuntime;
pub use time::ManualTime;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; the servers' critical sections do not panic, so that a poisoned one is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
