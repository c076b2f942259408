//! The first executor. Source: ExecutorRouteFirst.

use super::{Choice, Chosen, Route};

pub(super) struct First;

impl Route for First {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        choice.at(0)
    }
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};

    #[test]
    fn the_first_is_called_whatever_happens() {
        assert_eq!(calls(RouteKind::First, &["a", "b"], &[5, 1, 2]), [7, 7, 7]);
    }
}
