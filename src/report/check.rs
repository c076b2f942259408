//! One scenario checked, with all that is needed to tell it.

use super::{Execution, Survivors};
use explore::certificate::Claim;
use explore::{Checked, Met, NextLevel};
use scenarios::Scenario;
use scenarios::file::ExpectedVerdict;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A check, ready to be told.
#[derive(Clone)]
pub struct CheckReport<'a> {
    /// What was simulated.
    pub scenario: &'a Scenario,
    /// What was found.
    pub checked: &'a Checked,
    /// The counterexample, executed once more in order to be told.
    pub example: Option<Execution<'a>>,
    /// What it proves; `None`: nothing.
    pub claim: Option<&'a Claim>,
    /// The file of the certificate, if one was asked for.
    pub sealed_in: Option<&'a str>,
    /// What would have stopped the counterexample, if that was asked.
    pub survivors: Option<&'a Survivors>,
    /// What random plans of more faults than the bound gave, where there was time for them.
    pub beyond: Option<BeyondReport<'a>>,
    /// How long it took, if that is to be said.
    pub elapsed: Option<Duration>,
}

/// What was found beyond the bound: shown, not judged.
#[derive(Clone, Debug)]
pub struct BeyondReport<'a> {
    /// How many faults the plans had.
    pub faults: RangeInclusive<u8>,
    /// How many plans ran.
    pub plans: u64,
    /// One for each way to fail that the check itself does not show, executed once more in order
    /// to be told.
    pub finds: Vec<Execution<'a>>,
}

impl CheckReport<'_> {
    /// The verdict that the scenario states.
    pub fn expected(&self) -> ExpectedVerdict {
        let expect = self.scenario.expect.as_ref();
        expect.map(|expect| expect.verdict).unwrap_or_default()
    }

    /// Whether the expectation is met; `None`: not known.
    pub fn met(&self) -> Option<bool> {
        match self.checked.met {
            Met::Yes => Some(true),
            Met::No(_) => Some(false),
            Met::Inconclusive(_) => None,
        }
    }

    /// Plans that ran, with those that were run only to be shown.
    pub(super) fn plans(&self) -> u64 {
        let shown = match &self.checked.next {
            Some(NextLevel::Ran(level)) => level.plans,
            _ => 0,
        };
        self.checked.explored.plans + shown
    }

    /// The spaces explored, by name and version, such as `core/1+full/1`; `plan` where the one
    /// plan that the scenario states was run.
    pub fn space(&self) -> String {
        let spaces = &self.checked.explored.spaces;
        if spaces.is_empty() {
            return "plan".to_owned();
        }
        let names: Vec<&str> = spaces.iter().map(|each| each.space.versioned()).collect();
        names.join("+")
    }
}
