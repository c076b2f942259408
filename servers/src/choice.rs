//! What a real server leaves to chance: who of several goes first.

/// Decides where a real server races.
pub trait Choice {
    /// One of `0..options`; `options` is at least 2.
    fn choose(&mut self, options: usize) -> usize;
}

/// Always the one that has waited longest.
#[derive(Clone, Copy, Debug, Default)]
pub struct First;

impl Choice for First {
    fn choose(&mut self, _: usize) -> usize {
        0
    }
}

/// Follows a list of choices, then always takes the first; remembers what it was asked, so that
/// [`Script::next`] walks every order.
///
/// ```
/// use runkey_servers::{Choice, Script};
///
/// let mut orders = Vec::new();
/// let mut script = Some(Script::default());
/// while let Some(mut walked) = script {
///     orders.push((walked.choose(2), walked.choose(2)));
///     script = walked.next();
/// }
/// assert_eq!(orders, [(0, 0), (0, 1), (1, 0), (1, 1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What is to be chosen, and of how many.
    chosen: Vec<(usize, usize)>,
    at: usize,
}

impl Choice for Script {
    fn choose(&mut self, options: usize) -> usize {
        if self.at == self.chosen.len() {
            self.chosen.push((0, options));
        }
        let (choice, _) = self.chosen[self.at];
        self.at += 1;
        choice.min(options.saturating_sub(1))
    }
}

impl Script {
    /// The order after the one that was walked; `None` after the last.
    pub fn next(mut self) -> Option<Script> {
        self.chosen.truncate(self.at);
        while let Some((choice, options)) = self.chosen.pop() {
            if choice + 1 < options {
                self.chosen.push((choice + 1, options));
                self.at = 0;
                return Some(self);
            }
        }
        None
    }
}
