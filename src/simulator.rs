//! The simulator as the explorer sees it.

use explore::{Execute, ExecuteError, Outcome};
use scenarios::spec::Plan;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A set-up that is executed in the simulator.
#[derive(Clone)]
pub struct Simulator(pub sim::Setup);

impl Execute for Simulator {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        // What a handler throws is caught inside; what arrives here is a defect of the simulator,
        // and must not take the other executions with it.
        catch_unwind(AssertUnwindSafe(|| sim::run(&self.0, seed, plan)))
            .map(bridged)
            .map_err(|_| ExecuteError::Panicked)
    }
}

fn bridged(outcome: sim::Outcome) -> Outcome {
    let reached = |reached: &sim::Reached| explore::Reached { site: reached.site, replayable: reached.replayable };
    Outcome {
        history: outcome.history,
        judgement: outcome.judgement,
        sites: outcome.sites.iter().map(reached).collect(),
        took_effect: outcome.took_effect,
        trace_hash: outcome.trace_hash,
    }
}
