//! A clock that stands still until it is moved.

use crate::Span;
use crate::ports::{Clock, Monotonic};
use evidence::Timestamp;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A wall clock and a monotonic clock, moved by hand; both start at zero.
#[derive(Debug, Default)]
pub struct ManualTime {
    monotonic: AtomicU64,
    offset: AtomicI64,
}

impl ManualTime {
    /// Time passes on both clocks.
    pub fn advance(&self, span: Span) {
        self.monotonic.fetch_add(span.ms(), Ordering::SeqCst);
    }

    /// The wall clock is set forward (or back); no time passes.
    pub fn step_ms(&self, ms: i64) {
        self.offset.fetch_add(ms, Ordering::SeqCst);
    }

    /// What the monotonic clock reads.
    pub fn monotonic(&self) -> Monotonic {
        Monotonic(self.monotonic.load(Ordering::SeqCst))
    }
}

impl Clock for ManualTime {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.monotonic().0).unwrap_or(i64::MAX);
        Timestamp(passed).plus_ms(self.offset.load(Ordering::SeqCst))
    }
}
