//! From a plan that fails to the smallest that fails in the same way.
//!
//! A plan found by chance has faults that do not matter, and longer ones than it takes. Shrinking
//! looks for a plan with fewer and weaker faults that gives the same verdict at the same layer:
//!
//! ```text
//!   drop      all that can be spared: its smallest part that does it   some dozen executions
//!   weaken    the kind or the magnitude, at the same call         some dozen
//!   move      the fault to an earlier site of the same step       some dozen
//!   replace   several faults by one that was not in the plan,     some thousand,
//!             those near the plan's own faults first              within a budget
//! ```
//!
//! Any step that succeeds begins again from the top. Dropping alone ends in a dead end where two
//! faults stand for one of another kind; replacing gets out of it. What comes out is minimal:
//! dropping any one fault, or weakening any one of them by any step, gives another verdict, another
//! layer, or a plan that no longer fits. How often it is the smallest plan there is was measured
//! against the exhaustive search: `docs/shrinking.md`.

mod replace;

use crate::execute::perform;
use crate::{Choice, Choices, Execute, ExploreError, Outcome};
use scenarios::spec::{Fault, FaultKind, Plan, Site};
use std::collections::BTreeSet;

/// Kinds from the weakest to the strongest, by how much of the world they disturb: one message;
/// one link; one process; a person; a server.
pub const BY_STRENGTH: [FaultKind; 22] = [
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
    FaultKind::DeadLetterReplay,
    FaultKind::SessionLoss,
    FaultKind::BrokerRestart,
    FaultKind::LockRestart,
    FaultKind::DatabaseRestart,
    FaultKind::LockFailover,
    FaultKind::DatabaseFailover,
    FaultKind::BrokerFailover,
    FaultKind::Purge,
];

/// Up to so many faults every part of a plan is tried: at most 256.
const ALL_PARTS_UP_TO: usize = 8;

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

/// Looks for fewer, weaker and earlier faults than those of `plan` that give its verdict and
/// layer, under the same seed.
///
/// A candidate of which a fault finds its site no longer, or takes no effect there, is no
/// candidate. Faults come from `choices`, and from the plan itself, so that a magnitude that is in
/// no list stays if nothing listed does it. The result depends on nothing but the arguments.
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
        tried: BTreeSet::from([plan.clone()]),
        reached: outcome.sites.len() as u64,
        best: Shrunk {
            plan: plan.clone(),
            outcome,
            executions: 1,
        },
    };
    // No plan is tried twice, so this ends.
    while shrinking.drop_some()?
        || shrinking.weaken_one()?
        || shrinking.move_one()?
        || shrinking.replace_some()?
    {}
    Ok(shrinking.best)
}

struct Shrinking<'a> {
    execute: &'a dyn Execute,
    choices: &'a dyn Choices,
    seed: u64,
    /// Every plan that was a candidate.
    tried: BTreeSet<Plan>,
    /// How many sites all executions reached: what shrinking has cost.
    reached: u64,
    best: Shrunk,
}

impl Shrinking<'_> {
    /// Keeps the smallest part of the plan that does it. Where it has many parts, drops one fault.
    fn drop_some(&mut self) -> Result<bool, ExploreError> {
        let faults = self.best.plan.faults.len();
        let from = match faults <= ALL_PARTS_UP_TO {
            true => 0,
            false => faults - 1,
        };
        for size in from..faults {
            for kept in subsets(faults, size) {
                if self.accept(self.only(&kept))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Replaces the first fault that can be weaker by the weakest that does.
    fn weaken_one(&mut self) -> Result<bool, ExploreError> {
        for place in 0..self.best.plan.faults.len() {
            for weaker in self.weaker(place) {
                let mut candidate = self.best.plan.clone();
                candidate.faults[place] = weaker;
                if self.accept(candidate)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What is weaker at the same call and not struck yet, weakest first.
    fn weaker(&self, place: usize) -> Vec<Fault> {
        let faults = &self.best.plan.faults;
        let fault = faults[place];
        let limit = strength((fault.kind, fault.magnitude_ms));
        let mut weaker = Vec::new();
        for at in &self.best.outcome.sites {
            let struck = faults.iter().any(|other| other.site == at.site);
            if !same_call(&at.site, &fault.site) || (struck && at.site != fault.site) {
                continue;
            }
            let choices = self
                .choices
                .faults_at(at.site.step, at.site.phase, at.replayable);
            let choices = choices.iter().filter(|choice| strength(**choice) < limit);
            weaker.extend(choices.map(|choice| fault_at(at.site, *choice)));
        }
        weaker.sort_by_key(|fault| strength((fault.kind, fault.magnitude_ms)));
        weaker
    }

    /// Moves the first fault that can strike earlier to the first site of its step at which the
    /// same thing comes of it: less of a story goes before it.
    fn move_one(&mut self) -> Result<bool, ExploreError> {
        for place in 0..self.best.plan.faults.len() {
            let fault = self.best.plan.faults[place];
            let mut rest = self.best.plan.clone();
            rest.faults.remove(place);
            let Some(without) = self.attempt(&rest)? else {
                continue;
            };
            let earlier = without
                .sites
                .iter()
                .take_while(|at| at.site != fault.site)
                .filter(|at| (at.site.step, at.site.phase) == (fault.site.step, fault.site.phase))
                .filter(|at| {
                    let choices =
                        self.choices
                            .faults_at(at.site.step, at.site.phase, at.replayable);
                    choices.iter().any(|(kind, _)| *kind == fault.kind)
                });
            let earlier: Vec<Site> = earlier.map(|at| at.site).collect();
            for site in earlier {
                let moved = Fault { site, ..fault };
                if self.accept(with(&rest, moved, &without))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The plan with these of its faults.
    fn only(&self, kept: &[usize]) -> Plan {
        let faults = kept.iter().filter_map(|at| self.best.plan.faults.get(*at));
        Plan {
            faults: faults.copied().collect(),
        }
    }

    /// Keeps the candidate if it was not tried before and fails in the same way.
    fn accept(&mut self, candidate: Plan) -> Result<bool, ExploreError> {
        let mut sites: Vec<Site> = candidate.faults.iter().map(|fault| fault.site).collect();
        sites.sort_unstable();
        let twice = sites.windows(2).any(|pair| pair[0] == pair[1]);
        if twice || !self.tried.insert(candidate.clone()) {
            return Ok(false);
        }
        let Some(outcome) = self.attempt(&candidate)? else {
            return Ok(false);
        };
        let (now, before) = (&outcome.judgement, &self.best.outcome.judgement);
        let same = now.verdict == before.verdict
            && now.failure == before.failure
            && now.layer == before.layer;
        if same {
            self.best.plan = in_order(candidate, &outcome);
            self.best.outcome = outcome;
        }
        Ok(same)
    }

    /// What a plan gives; `None` where it does not fit.
    fn attempt(&mut self, plan: &Plan) -> Result<Option<Outcome>, ExploreError> {
        self.best.executions += 1;
        match perform(self.execute, self.seed, plan) {
            Ok(outcome) => {
                self.reached += outcome.sites.len() as u64;
                Ok(Some(outcome))
            }
            Err(error) if error.is_stale_plan() => {
                // It went as far as any other.
                self.reached += self.best.outcome.sites.len() as u64;
                Ok(None)
            }
            Err(error) => Err(ExploreError::at(self.seed, plan, error)),
        }
    }
}

const fn fault_at(site: Site, (kind, magnitude_ms): Choice) -> Fault {
    Fault {
        site,
        kind,
        magnitude_ms,
    }
}

fn same_call(one: &Site, other: &Site) -> bool {
    let call = |site: &Site| (site.instance, site.step, site.run, site.n);
    call(one) == call(other)
}

/// A plan and one more fault, where it strikes in the execution of the plan.
fn with(plan: &Plan, fault: Fault, outcome: &Outcome) -> Plan {
    let place = |site: Site| outcome.sites.iter().position(|at| at.site == site);
    let at = place(fault.site);
    let before = plan
        .faults
        .iter()
        .take_while(|other| place(other.site) < at)
        .count();
    let mut faults = plan.faults.clone();
    faults.insert(before, fault);
    Plan { faults }
}

/// The faults in the order in which they struck.
fn in_order(mut plan: Plan, outcome: &Outcome) -> Plan {
    plan.faults
        .sort_by_key(|fault| outcome.sites.iter().position(|at| at.site == fault.site));
    plan
}

/// Every choice of `size` of the numbers below `of`; those with small numbers first.
fn subsets(of: usize, size: usize) -> Vec<Vec<usize>> {
    fn go(from: usize, of: usize, size: usize, begun: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if size == 0 {
            all.push(begun.clone());
            return;
        }
        for next in from..of {
            begun.push(next);
            go(next + 1, of, size - 1, begun, all);
            begun.pop();
        }
    }
    let mut all = Vec::new();
    go(0, of, size, &mut Vec::new(), &mut all);
    all
}

/// By kind, then by how far the magnitude is from nothing; forwards before backwards.
pub(crate) fn strength((kind, magnitude_ms): Choice) -> (usize, u64, bool) {
    let kind = BY_STRENGTH.iter().position(|known| *known == kind);
    (
        kind.unwrap_or(BY_STRENGTH.len()),
        magnitude_ms.unsigned_abs(),
        magnitude_ms < 0,
    )
}
