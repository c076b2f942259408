//! From a plan that fails to one of which nothing can be spared.
//!
//! Drops faults and weakens them, as long as the verdict and its layer stay. What comes out is
//! minimal in this sense: dropping any one fault, or weakening any one of them by any step, gives
//! another verdict, another layer, or a plan that no longer fits. It is not always the smallest
//! plan there is; exploring level by level finds that one.

use crate::execute::perform;
use crate::{Choices, Execute, ExploreError, Outcome};
use scenarios::spec::{Fault, FaultKind, Plan};

/// Kinds from the weakest to the strongest, by how much of the world they disturb: one message;
/// one link; one process; a person; a server.
pub const BY_STRENGTH: [FaultKind; 14] = [
    FaultKind::Refuse,
    FaultKind::Delay,
    FaultKind::DuplicateRequest,
    FaultKind::LoseRequest,
    FaultKind::LoseReply,
    FaultKind::PartitionToServer,
    FaultKind::PartitionFromServer,
    FaultKind::Partition,
    FaultKind::ClockStep,
    FaultKind::GracefulStop,
    FaultKind::Pause,
    FaultKind::Crash,
    FaultKind::OperatorReplay,
    FaultKind::BrokerRestart,
];

/// A plan after shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The plan.
    pub plan: Plan,
    /// What it gives.
    pub outcome: Outcome,
    /// How many executions it took.
    pub executions: u64,
}

/// Drops and weakens faults of `plan` as long as its verdict and layer stay.
///
/// A candidate of which a fault finds its site no longer, or takes no effect there, is no
/// candidate. The result depends on nothing but the arguments.
///
/// # Errors
/// The plan itself does not run; an execution fails for another reason than its plan.
pub fn shrink(
    execute: &dyn Execute,
    choices: &dyn Choices,
    seed: u64,
    plan: &Plan,
) -> Result<Shrunk, ExploreError> {
    let outcome =
        perform(execute, seed, plan).map_err(|source| ExploreError::at(seed, plan, source))?;
    let mut shrinking = Shrinking {
        execute,
        choices,
        seed,
        best: Shrunk {
            plan: plan.clone(),
            outcome,
            executions: 1,
        },
    };
    // Each step makes the plan shorter or one fault weaker, so this ends.
    while shrinking.drop_one()? || shrinking.weaken_one()? {}
    Ok(shrinking.best)
}

struct Shrinking<'a> {
    execute: &'a dyn Execute,
    choices: &'a dyn Choices,
    seed: u64,
    best: Shrunk,
}

impl Shrinking<'_> {
    /// Drops the last fault that can be spared: the later a fault, the fewer sites hang on it.
    fn drop_one(&mut self) -> Result<bool, ExploreError> {
        for place in (0..self.best.plan.faults.len()).rev() {
            let mut candidate = self.best.plan.clone();
            candidate.faults.remove(place);
            if self.accept(candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Replaces the first fault that can be weaker by the weakest that does.
    fn weaken_one(&mut self) -> Result<bool, ExploreError> {
        for place in 0..self.best.plan.faults.len() {
            let fault = self.best.plan.faults[place];
            for (kind, magnitude_ms) in self.weaker(&fault) {
                let mut candidate = self.best.plan.clone();
                candidate.faults[place] = Fault {
                    site: fault.site,
                    kind,
                    magnitude_ms,
                };
                if self.accept(candidate)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What is weaker at the same site, weakest first.
    fn weaker(&self, fault: &Fault) -> Vec<(FaultKind, i64)> {
        let reached = self
            .best
            .outcome
            .sites
            .iter()
            .find(|reached| reached.site == fault.site);
        let Some(reached) = reached else {
            return Vec::new();
        };
        let site = &reached.site;
        let mut weaker: Vec<(FaultKind, i64)> = self
            .choices
            .faults_at(site.step, site.phase, reached.replayable)
            .iter()
            .copied()
            .filter(|choice| strength(*choice) < strength((fault.kind, fault.magnitude_ms)))
            .collect();
        weaker.sort_unstable_by_key(|choice| strength(*choice));
        weaker
    }

    /// Keeps the candidate if it fails in the same way.
    fn accept(&mut self, candidate: Plan) -> Result<bool, ExploreError> {
        self.best.executions += 1;
        let outcome = match perform(self.execute, self.seed, &candidate) {
            Ok(outcome) => outcome,
            Err(error) if error.is_stale_plan() => return Ok(false),
            Err(error) => return Err(ExploreError::at(self.seed, &candidate, error)),
        };
        let same = outcome.judgement.verdict == self.best.outcome.judgement.verdict
            && outcome.judgement.failure == self.best.outcome.judgement.failure
            && outcome.judgement.layer == self.best.outcome.judgement.layer;
        if same {
            self.best.plan = candidate;
            self.best.outcome = outcome;
        }
        Ok(same)
    }
}

/// By kind, then by how far the magnitude is from nothing; forwards before backwards.
fn strength((kind, magnitude_ms): (FaultKind, i64)) -> (usize, u64, bool) {
    let kind = BY_STRENGTH.iter().position(|known| *known == kind);
    (
        kind.unwrap_or(BY_STRENGTH.len()),
        magnitude_ms.unsigned_abs(),
        magnitude_ms < 0,
    )
}
