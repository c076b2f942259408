//! One executor after the other, by timer. An admin begins where chance says, so that not every
//! timer burdens the first executor, and counts for itself. Source: ExecutorRouteRound.

use super::{Choice, Chosen, Route};
use evidence::TimerId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(super) struct Round {
    /// How often a timer was called, from where it began.
    counts: Mutex<BTreeMap<TimerId, u64>>,
}

impl Route for Round {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(choice.timer.clone());
        let count = count.and_modify(|count| *count = count.wrapping_add(1));
        choice.at(*count.or_insert(choice.steady))
    }
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};

    #[test]
    fn each_timer_goes_its_own_round() {
        assert_eq!(calls(RouteKind::Round, &["a"], &[0; 5]), [8, 9, 7, 8, 9]);
        assert_eq!(calls(RouteKind::Round, &["a", "b"], &[0; 4]), [8, 8, 9, 9]);
    }
}
