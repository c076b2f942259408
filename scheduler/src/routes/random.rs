//! Any executor. Source: ExecutorRouteRandom.

use super::{Choice, Chosen, Route};

pub(super) struct Random;

impl Route for Random {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        choice.at(choice.random)
    }
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};

    #[test]
    fn whom_chance_says_is_called() {
        assert_eq!(calls(RouteKind::Random, &["a"], &[5, 0, 1]), [9, 7, 8]);
    }
}
