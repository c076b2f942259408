//! Panics inside executions print nothing.
//!
//! A handler that panics ends its attempt; that is a result, told in the timeline. The hook that
//! prints a panic runs before anybody catches it, and would print it once for each of a million
//! executions.

use std::panic;
use std::sync::Once;
use std::thread;

/// From now on panics on the threads of executions are not printed; all others are, as before.
pub(crate) fn hush_executions() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(sim::EXECUTION_THREAD) {
                before(info);
            }
        }));
    });
}
