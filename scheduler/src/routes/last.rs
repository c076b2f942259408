//! The last executor. Source: ExecutorRouteLast.

use super::{Choice, Chosen, Route};

pub(super) struct Last;

impl Route for Last {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        choice.at(choice.executors.len().saturating_sub(1) as u64)
    }
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};

    #[test]
    fn the_last_is_called_whatever_happens() {
        assert_eq!(calls(RouteKind::Last, &["a", "b"], &[5, 1, 2]), [9, 9, 9]);
    }
}
