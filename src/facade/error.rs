//! Why a check could not be made.

use explore::{ExecuteError, ExploreError};
use scenarios::ScenarioError;
use scenarios::token::TokenError;

/// Why a check could not be made. That a promise is broken is no error but a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that is neither in the catalogue nor a file.
    #[error(
        "there is no scenario `{named}` in the catalogue, and no such file{like} (runkey list shows \
         all)"
    )]
    UnknownScenario {
        /// What was named.
        named: String,
        /// Empty, or `; did you mean ..?`.
        like: String,
    },
    /// A scenario that cannot be used.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A scenario that cannot be simulated.
    #[error("the set-up could not be built: {0}")]
    SetUp(#[from] sim::SetupError),
    /// A `[[fault]]` that makes no sense.
    #[error("[[fault]] {0}")]
    Fault(String),
    /// An execution that could not be done or does not repeat.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// `RUNKEY_REPLAY` holds no token.
    #[error("RUNKEY_REPLAY: {0}")]
    Token(#[from] TokenError),
    /// `RUNKEY_REPLAY` holds the token of another test.
    #[error(
        "RUNKEY_REPLAY is a token of {}, and this is `{here}`; if the test was renamed, the code has \
         changed since the token was printed",
        whose(.of)
    )]
    AnotherTest {
        /// The test that printed the token; `None`: a scenario without parts of a test's own.
        of: Option<String>,
        /// This test.
        here: String,
    },
    /// `RUNKEY_REPLAY` holds a token of this test, of another scenario.
    #[error(
        "RUNKEY_REPLAY is a token of this test, but of another scenario (hash {token:08x}, here \
         {here:08x}): the code has changed since the token was printed"
    )]
    AnotherScenario {
        /// Hash of the token's scenario.
        token: u32,
        /// Hash of this one.
        here: u32,
    },
    /// The plan of the token no longer fits.
    #[error("the code has changed since the token was printed: {0}")]
    Changed(ExecuteError),
    /// The plan of the token could not be executed.
    #[error(transparent)]
    Execute(ExecuteError),
}

fn whose(test: &Option<String>) -> String {
    match test {
        Some(test) => format!("the test `{test}`"),
        None => "a scenario without parts of a test's own (runkey replay shows it)".to_owned(),
    }
}

impl Error {
    /// True if `RUNKEY_REPLAY` was set and does not fit what is here now.
    pub const fn is_stale_token(&self) -> bool {
        matches!(
            self,
            Error::AnotherTest { .. } | Error::AnotherScenario { .. } | Error::Changed(_)
        )
    }

    /// True if a part blocked its thread and was cut.
    pub const fn is_blocked(&self) -> bool {
        matches!(
            self,
            Error::Explore(ExploreError::Execute {
                source: ExecuteError::Watchdog { .. },
                ..
            }) | Error::Execute(ExecuteError::Watchdog { .. })
        )
    }
}
