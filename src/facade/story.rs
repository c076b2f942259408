//! One execution, kept in order to be told.

use super::{Error, Named};
use crate::report::{Execution, Human, OwnParts, Report as _, Verb};
use anstream::StripStream;
use evidence::Judgement;
use explore::{ExecuteError, perform};
use scenarios::spec::Plan;
use scenarios::{Scenario, Token};
use sim::{Outcome, Setup};
use std::io;

/// An execution, with the token that replays it.
#[derive(Clone)]
pub(crate) struct Story {
    pub seed: u64,
    pub plan: Plan,
    pub token: Option<String>,
    pub outcome: Outcome,
}

impl Story {
    /// Executes a plan in order to tell it.
    pub fn of(setup: &Setup, named: &Named, seed: u64, plan: &Plan) -> Result<Story, ExecuteError> {
        let outcome = perform(&setup.telling(), seed, plan)?;
        let token = Token {
            scenario_hash: setup.scenario().hash32(),
            seed,
            plan: plan.clone(),
            test: Some(named.as_str().to_owned()),
        };
        Ok(Story {
            seed,
            plan: plan.clone(),
            // Only a plan with more faults than a token holds has none.
            token: token.encode().ok(),
            outcome,
        })
    }

    /// Executes the plan of a token.
    pub fn replayed(setup: &Setup, named: &Named, token: &Token) -> Result<Story, Error> {
        Story::of(setup, named, token.seed, &token.plan).map_err(|error| {
            match error.is_stale_plan() {
                true => Error::Changed(error),
                false => Error::Execute(error),
            }
        })
    }

    /// What the judge says.
    pub const fn judgement(&self) -> &Judgement {
        &self.outcome.judgement
    }

    /// With all that is needed to tell it.
    pub fn execution<'a>(&'a self, scenario: &'a Scenario) -> Execution<'a> {
        Execution {
            scenario,
            seed: self.seed,
            plan: &self.plan,
            token: self.token.as_deref(),
            path: None,
            history: &self.outcome.history,
            judgement: &self.outcome.judgement,
            trace_hash: self.outcome.trace_hash,
        }
    }

    /// Timeline, reason and replay line, for a person; by [`Verb::Replay`] with every event.
    pub fn text(&self, scenario: &Scenario, own: OwnParts, verb: Verb) -> String {
        plain(own, verb, |human| {
            human.execution(&self.execution(scenario))
        })
    }
}

/// What a person reads, without colours.
pub(crate) fn plain(
    own: OwnParts,
    verb: Verb,
    write: impl FnOnce(&mut Human<&mut StripStream<Vec<u8>>>) -> io::Result<()>,
) -> String {
    let mut out = StripStream::new(Vec::new());
    // Writing to memory does not fail.
    let _ = write(&mut Human::new(&mut out, verb).with_parts(own));
    String::from_utf8_lossy(&out.into_inner()).into_owned()
}
