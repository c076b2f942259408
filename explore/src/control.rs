//! How a person watches a long exploration, and ends it early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shared between an exploration and whoever watches it: a stop flag, a time budget, counters.
///
/// The counters are for progress only; nothing that is reported is read from them.
#[derive(Debug, Default)]
pub struct Control {
    /// Shared with every [`Control::part`].
    stop: Arc<AtomicBool>,
    deadline: Option<Instant>,
    level: AtomicU64,
    expected: AtomicU64,
    plans: AtomicU64,
}

/// Why an exploration ended before its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// Somebody asked it to stop (Ctrl-C).
    Interrupted,
    /// The time budget ran out.
    OutOfTime,
}

impl Cut {
    /// As a reader is told.
    pub const fn name(self) -> &'static str {
        match self {
            Cut::Interrupted => "interrupted",
            Cut::OutOfTime => "the time budget ran out",
        }
    }
}

impl Control {
    /// No time budget.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends after this much wall time from now.
    pub fn for_at_most(budget: Duration) -> Self {
        Control {
            // A budget too long to be represented is no budget.
            deadline: Instant::now().checked_add(budget),
            ..Self::default()
        }
    }

    /// Stops with this one, and, where there is a time budget, ends after one of so many equal
    /// parts of the time that is left.
    pub fn part(&self, parts: u32) -> Self {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let budget = self.deadline.map(|deadline| left(deadline) / parts.max(1));
        Control {
            stop: Arc::clone(&self.stop),
            ..budget.map_or_else(Control::new, Control::for_at_most)
        }
    }

    /// Asks the exploration to end; safe from any thread, and from a signal handler's thread.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Why the exploration has to end now, if it has to.
    pub fn cut(&self) -> Option<Cut> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Cut::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Some(Cut::OutOfTime),
            _ => None,
        }
    }

    /// The level that is being run: the number of faults of its plans.
    pub fn level(&self) -> u64 {
        self.level.load(Ordering::Relaxed)
    }

    /// How many plans the current level has, over all seeds; 0 while that is not known.
    pub fn expected(&self) -> u64 {
        self.expected.load(Ordering::Relaxed)
    }

    /// How many plans of the current level have been run, over all seeds.
    pub fn plans(&self) -> u64 {
        self.plans.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_level(&self, level: u64, expected: u64) {
        self.level.store(level, Ordering::Relaxed);
        self.plans.store(0, Ordering::Relaxed);
        self.expected.store(expected, Ordering::Relaxed);
    }

    pub(crate) fn count_plan(&self) {
        self.plans.fetch_add(1, Ordering::Relaxed);
    }
}
