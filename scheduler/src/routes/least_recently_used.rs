//! The executor that was not called for longest for the timer; of those never called the first.
//! Source: ExecutorRouteLRU.

use super::{Choice, Chosen, Route};
use evidence::{InstanceId, TimerId};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(super) struct LeastRecentlyUsed {
    /// By timer: those called, the last one last.
    called: Mutex<BTreeMap<TimerId, Vec<InstanceId>>>,
}

impl Route for LeastRecentlyUsed {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        let mut called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
        let called = called.entry(choice.timer.clone()).or_default();
        let since = |to: &InstanceId| called.iter().position(|known| known == to);
        // `None`, never called, is less than any place.
        let Some(to) = choice.executors.iter().copied().min_by_key(since) else {
            return Chosen::Nobody;
        };
        called.retain(|known| *known != to);
        called.push(to);
        Chosen::One(to)
    }
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};

    #[test]
    fn each_timer_calls_whom_it_has_not_called_for_longest() {
        let kind = RouteKind::LeastRecentlyUsed;
        assert_eq!(calls(kind, &["a"], &[0; 5]), [7, 8, 9, 7, 8]);
        assert_eq!(calls(kind, &["a", "b"], &[0; 4]), [7, 7, 8, 8]);
    }
}
