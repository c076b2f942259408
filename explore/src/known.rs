//! States in which executions have come to rest: from each of them the plans go on once.
//!
//! Two executions of one seed that rest in equal states have the same future, whatever faults are
//! still to come. So of all plans of one number of faults that come to a state, the canonically
//! first **owns** it: only its extensions past the state are run, and an execution that comes to a
//! state which a smaller plan owns is cut there. All that is known of a state comes from levels
//! that are done, and of several plans always the same one is kept: nothing depends on who ran
//! what when.
//!
//! Plans that were run without a failure alone are known here. A level in which something fails is
//! run again without merging, so that every way to fail is seen.

use crate::counterexample::Rank;
use crate::tally::Tally;
use evidence::Verdict;
use rustc_hash::FxHashMap;
use sim::State;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A state under a seed.
pub(crate) type Resting = (u64, State);

/// What is known of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// Hash of the plan that owns it.
    owner: u64,
    /// What an execution comes to that goes on from it without a further fault.
    verdict: Verdict,
    /// The next state that this execution rests in.
    next: Option<State>,
    /// For 1, 2, ... faults: how many plans begin with a fault between this state and the next.
    plans: SmallVec<[u64; 4]>,
}

/// What is known of the states of the levels that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    states: FxHashMap<Resting, Entry>,
}

/// A plan that has come to a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub owner: u64,
    pub verdict: Verdict,
    pub next: Option<State>,
    /// The place of the plan in canonical order.
    pub rank: SmallVec<[(u32, u8, i64); 4]>,
}

/// The canonically first plan of a level for each state that none of a smaller one has come to.
pub(crate) type Proposals = BTreeMap<Resting, Proposal>;

impl Proposal {
    pub fn of(owner: u64, verdict: Verdict, next: Option<State>, rank: &Rank<'_>) -> Self {
        Proposal {
            owner,
            verdict,
            next,
            rank: rank.fault_keys().collect(),
        }
    }
}

/// Keeps the canonically first.
pub(crate) fn propose(proposals: &mut Proposals, resting: Resting, new: Proposal) {
    match proposals.get_mut(&resting) {
        Some(kept) if kept.rank <= new.rank => {}
        Some(kept) => *kept = new,
        None => {
            proposals.insert(resting, new);
        }
    }
}

impl Known {
    /// What an execution comes to from here without a further fault, if that is known.
    pub fn verdict(&self, resting: Resting) -> Option<Verdict> {
        self.states.get(&resting).map(|entry| entry.verdict)
    }

    /// Whether the extensions past this state are those of another plan.
    pub fn is_anothers(&self, resting: Resting, plan: u64) -> bool {
        self.states
            .get(&resting)
            .is_some_and(|entry| entry.owner != plan)
    }

    /// A level is done: what it proposes is known now.
    pub fn learn(&mut self, proposals: Proposals) {
        for (resting, proposal) in proposals {
            let Proposal {
                owner,
                verdict,
                next,
                ..
            } = proposal;
            let plans = SmallVec::new();
            self.states.entry(resting).or_insert(Entry {
                owner,
                verdict,
                next,
                plans,
            });
        }
    }

    /// How many plans a level has, those included that were not run because they go on from a
    /// state that another plan owns.
    pub fn count(&mut self, tally: &Tally) -> u64 {
        for ((resting, faults), form) in tally.by_faults() {
            let plans = form.evaluate(|resting, faults| self.plans_past(resting, faults));
            if let Some(entry) = self.states.get_mut(&resting) {
                let place = usize::from(faults).saturating_sub(1);
                if entry.plans.len() <= place {
                    entry.plans.resize(place + 1, 0);
                }
                entry.plans[place] = plans;
            }
        }
        tally
            .whole()
            .evaluate(|resting, faults| self.plans_past(resting, faults))
    }

    /// How many plans have so many faults past this state.
    fn plans_past(&self, resting: Resting, faults: u8) -> u64 {
        let place = usize::from(faults).saturating_sub(1);
        let mut plans: u64 = 0;
        let mut at = Some(resting);
        while let Some(resting) = at
            && let Some(entry) = self.states.get(&resting)
        {
            plans = plans.saturating_add(entry.plans.get(place).copied().unwrap_or(0));
            at = entry.next.map(|next| (resting.0, next));
        }
        plans
    }
}
