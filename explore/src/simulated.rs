//! The simulator, as an explorer runs it.

use crate::{Execute, ExecuteError, Outcome};
use scenarios::spec::Plan;
use sim::{Cut, Setup};

impl Execute for Setup {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        Setup::execute(self, seed, plan).map_err(|cut| match cut {
            Cut::Blocked { after } => ExecuteError::Watchdog { after },
            Cut::PartPanicked { message } => ExecuteError::PartPanicked { message },
            Cut::Panicked => ExecuteError::Panicked,
            Cut::NoThread => ExecuteError::SetUp(cut.to_string()),
        })
    }
}
