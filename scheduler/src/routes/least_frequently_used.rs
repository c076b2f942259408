//! The executor that was called least often for the timer; of several the first. Source:
//! ExecutorRouteLFU (its counts begin at random, ours at zero, and are forgotten daily).

use super::{Choice, Chosen, Route};
use evidence::{InstanceId, TimerId};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(super) struct LeastFrequentlyUsed {
    counts: Mutex<BTreeMap<(TimerId, InstanceId), u64>>,
}

impl Route for LeastFrequentlyUsed {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |to: &InstanceId| {
            let of = (choice.timer.clone(), *to);
            counts.get(&of).copied().unwrap_or_default()
        };
        let Some(to) = choice.executors.iter().copied().min_by_key(count) else {
            return Chosen::Nobody;
        };
        *counts.entry((choice.timer.clone(), to)).or_default() += 1;
        Chosen::One(to)
    }
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};

    #[test]
    fn each_timer_calls_whom_it_called_least() {
        let kind = RouteKind::LeastFrequentlyUsed;
        assert_eq!(calls(kind, &["a"], &[0; 4]), [7, 8, 9, 7]);
        assert_eq!(calls(kind, &["a", "a", "b"], &[0; 6]), [7, 8, 7, 9, 7, 8]);
    }
}
