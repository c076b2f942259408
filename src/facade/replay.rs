//! `RUNKEY_REPLAY=token cargo test name`: the check runs the plan of the token and nothing else.

use super::{Error, Named};
use scenarios::{Scenario, Token};
use std::io::Write;

/// The variable.
const VARIABLE: &str = "RUNKEY_REPLAY";

/// What the environment asks of a check.
#[derive(Debug)]
pub(crate) enum Asked {
    /// To be made.
    Check,
    /// To run this token's plan.
    Replay(Token),
    /// Nothing: the token is of another check of this test.
    Nothing,
}

/// What the environment asks of this check.
pub(crate) fn asked(named: &Named, scenario: &Scenario) -> Result<Asked, Error> {
    match std::env::var(VARIABLE) {
        Ok(text) if !text.trim().is_empty() => of_token(&text, named, scenario),
        _ => Ok(Asked::Check),
    }
}

fn of_token(text: &str, named: &Named, scenario: &Scenario) -> Result<Asked, Error> {
    let token = Token::decode(text)?;
    match &token.test {
        Some(test) if test == named.as_str() => {}
        Some(test) if named.is_beside(test) => {
            let (test, here) = (test.as_str(), named.as_str());
            tell_past_the_harness(&format!(
                "note: {VARIABLE} is a token of `{test}`; `{here}` is passed over\n"
            ));
            return Ok(Asked::Nothing);
        }
        test => {
            return Err(Error::AnotherTest {
                of: test.clone(),
                here: named.as_str().to_owned(),
            });
        }
    }
    match (token.scenario_hash, scenario.hash32()) {
        (token, here) if token != here => Err(Error::AnotherScenario { token, here }),
        _ => Ok(Asked::Replay(token)),
    }
}

/// Writes to stderr itself: what a test prints in the ordinary way is shown only where it fails.
pub(crate) fn tell_past_the_harness(text: &str) {
    // Nobody to read it is no reason to fail.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(test: Option<&str>, hash: u32, named: &str) -> Result<Asked, Error> {
        let token = Token {
            scenario_hash: hash,
            test: test.map(str::to_owned),
            ..Token::default()
        };
        let named = Named::by_hand(named.to_owned());
        of_token(&token.encode().unwrap(), &named, &Scenario::default())
    }

    #[test]
    fn a_token_is_replayed_by_the_test_and_scenario_that_it_names_and_by_no_other() {
        let hash = Scenario::default().hash32();
        assert!(matches!(of(Some("a"), hash, "a"), Ok(Asked::Replay(_))));
        assert!(matches!(of(Some("a"), hash, "a#2"), Ok(Asked::Nothing)));
        for stale in [
            of(Some("a"), hash ^ 1, "a"),
            of(Some("b"), hash, "a"),
            of(None, hash, "a"),
        ] {
            let error = stale.unwrap_err();
            assert!(error.is_stale_token());
            let text = error.to_string();
            assert!(text.contains("the code has changed since") || text.contains("runkey replay"));
        }
    }

    #[test]
    fn what_is_no_token_is_refused_with_the_reason() {
        let named = Named::by_hand("a".to_owned());
        let error = of_token("rk1-00", &named, &Scenario::default()).unwrap_err();
        assert!(error.to_string().starts_with("RUNKEY_REPLAY: "));
    }
}
