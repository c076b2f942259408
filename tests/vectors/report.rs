//! What replaying a vector came to.

use std::fmt;

/// Whether the model did what the real server did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Step by step.
    Agreed,
    /// At this step (from 1; one more than there are steps: the final state) it did not.
    Disagreed { step: usize, why: String },
    /// It uses a kind of statement or operation that the model does not have.
    OutOfScope { reason: String },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Agreed => f.write_str("agreed"),
            Outcome::Disagreed { step, why } => write!(f, "disagreed at step {step}: {why}"),
            Outcome::OutOfScope { reason } => write!(f, "out-of-scope: {reason}"),
        }
    }
}
