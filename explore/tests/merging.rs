//! Merging is only as good as the states that are told: what a state leaves out is caught.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use runkey_explore::toy::Courier;
use runkey_explore::{
    Bound, Check, Control, Execute, ExecuteError, Expectation, ExploreError, Known, Outcome, State,
    Walking, check,
};
use scenarios::spec::{Plan, Space};

/// Says that it always rests in the same state, and has forgotten what an execution came to.
struct Forgetful(Courier);

impl Execute for Forgetful {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        self.0.execute(seed, plan)
    }

    fn execute_until(
        &self,
        seed: u64,
        plan: &Plan,
        known: Known<'_>,
    ) -> Result<Outcome, ExecuteError> {
        let mut outcome = self.0.execute(seed, plan)?;
        let state = State(7);
        outcome.rest_points = vec![sim::RestPoint {
            sites: outcome.sites.len() as u32,
            state,
        }];
        outcome.cut = known(state);
        Ok(outcome)
    }

    fn opaque(&self) -> Option<&'static str> {
        None
    }
}

#[test]
fn a_state_that_leaves_out_what_matters_is_caught() {
    let courier = Courier {
        keyed: false,
        tries: 9,
    };
    let error = check(&Check {
        execute: &Forgetful(courier),
        seeds: &(1..=16),
        bounds: &[Bound {
            space: Space::Core,
            up_to: 1,
            choices: &courier,
        }],
        expectation: &Expectation::Holds { faults: None },
        all_plans: false,
        show_next_up_to: 0,
        walking: Walking::default(),
        control: &Control::new(),
    })
    .unwrap_err();
    assert!(
        matches!(
            error,
            ExploreError::WronglyMerged {
                expected: Verdict::ExactlyOnce,
                ..
            }
        ),
        "{error}"
    );
}
