//! The simulator, as an explorer runs it.

use crate::{Execute, ExecuteError, Outcome};
use scenarios::spec::Plan;
use sim::{Cut, Known, Opaque, Setup};

impl Execute for Setup {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        Setup::execute(self, seed, plan).map_err(told)
    }

    fn execute_until(
        &self,
        seed: u64,
        plan: &Plan,
        known: Known<'_>,
    ) -> Result<Outcome, ExecuteError> {
        Setup::execute_until(self, seed, plan, known).map_err(told)
    }

    fn opaque(&self) -> Option<&'static str> {
        self.transparent().err().map(Opaque::reason)
    }
}

fn told(cut: Cut) -> ExecuteError {
    match cut {
        Cut::Blocked { after } => ExecuteError::Watchdog { after },
        Cut::PartPanicked { message } => ExecuteError::PartPanicked { message },
        Cut::Panicked => ExecuteError::Panicked,
        Cut::NoThread => ExecuteError::SetUp(cut.to_string()),
    }
}
