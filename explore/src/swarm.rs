//! Plans of many faults, each of a random few of the kinds: for depths that no one can exhaust.
//!
//! A plan that draws from all kinds has a little of each, and most of them undo what the others
//! do: a crash forgets what the pause before it brought about. So each plan first draws which kinds
//! it has at all, each as likely as not, and then its faults from those (Groce, Zhang, Eide, Chen,
//! Regehr: "Swarm testing", ISSTA 2012). Sites are drawn over the whole execution. Magnitudes are
//! not those of the bounded spaces but drawn around the scenario's own deadlines, just under and
//! just over, the distance by order of magnitude.
//!
//! ```text
//!   number -> seed, kinds, how many faults, site by site a kind and a magnitude
//!          -> plan that fails -> shrunk -> kept if no earlier one fails so
//! ```
//!
//! What is found is evidence of a bug, and no judgement of a bound: nothing here is exhausted.

use crate::draw::Draw;
use crate::random::{grow, repeat_if_chosen};
use crate::{Choices, Control, Cut, Execute, ExploreError, RandomPlan, Reached, Table, shrink};
use evidence::{Attribution, Judgement, TraceHash, Verdict};
use rayon::prelude::*;
use scenarios::spec::faults::{self, Amount};
use scenarios::spec::{Fault, FaultKind, Phase, Plan};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Numbers handed to the pool at once: enough to keep all threads busy, few enough to end in time.
const BATCH: u64 = 512;

/// A walk over numbered plans.
#[derive(Clone, Copy)]
pub struct Swarm<'a> {
    /// Runs the plans.
    pub execute: &'a dyn Execute,
    /// Which kinds apply where, and the magnitudes that finds are shrunk to.
    pub space: &'a Table,
    /// What the scenario waits for, in milliseconds; see [`scenarios::spec::Magnitudes`].
    pub deadlines_ms: &'a [i64],
    /// The seeds to draw from, both ends included.
    pub seeds: &'a RangeInclusive<u64>,
    /// How many faults a plan has; fewer where nothing more applied.
    pub faults: &'a RangeInclusive<u8>,
    /// Progress and early end.
    pub control: &'a Control,
}

/// What the plans of a walk gave.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SwarmReport {
    /// How many plans ran.
    pub plans: u64,
    /// How many of them broke the promise.
    pub failing: u64,
    /// One for each way to fail, in the order in which they were found.
    pub finds: Vec<Find>,
    /// Why it ended, if not at the last number.
    pub cut: Option<Cut>,
}

/// A way to fail, and the first plan that was found to do it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// The number of the plan that was drawn.
    pub number: u64,
    /// The seed.
    pub seed: u64,
    /// What is left of the plan.
    pub plan: Plan,
    /// What the judge says of it.
    pub judgement: Judgement,
    /// Identifies the execution.
    pub trace_hash: TraceHash,
}

/// What two finds have in common that are taken for one: verdict, layer, step of the last fault.
pub type Likeness = (Verdict, Option<String>, Option<u8>);

impl Find {
    /// Finds of one scenario that are alike are told once; its guard is always the same.
    pub fn likeness(&self) -> Likeness {
        likeness(&self.judgement, &self.plan)
    }
}

/// See [`Find::likeness`]; of any plan.
pub fn likeness(judgement: &Judgement, plan: &Plan) -> Likeness {
    let layer = judgement.layer.as_ref().map(Attribution::to_string);
    let last = plan.faults.last().map(|fault| fault.site.step);
    (judgement.verdict, layer, last)
}

/// A plan as it was drawn.
struct Drawn {
    number: u64,
    seed: u64,
    found: RandomPlan,
}

impl Swarm<'_> {
    /// Runs the plans with these numbers, on the threads of the current rayon pool, and shrinks
    /// what fails in a way not seen before. Pass `0..=u64::MAX` to go on until the control says
    /// stop.
    ///
    /// # Errors
    /// An execution that fails, a fault without effect, a plan that does not repeat; of the plan
    /// with the lowest number.
    pub fn run(&self, numbers: RangeInclusive<u64>) -> Result<SwarmReport, ExploreError> {
        let mut report = SwarmReport::default();
        let mut seen = Seen::default();
        let kinds = self.kinds();
        let (mut from, last) = (*numbers.start(), *numbers.end());
        self.control.begin_level((*self.faults.end()).into(), 0);
        while from <= last && report.cut.is_none() {
            let to = from.saturating_add(BATCH - 1).min(last);
            let batch: Vec<_> = (from..=to)
                .into_par_iter()
                .map(|number| self.one(number, &kinds))
                .collect();
            let mut fails_anew = Vec::new();
            // In order of number, so that the error reported is the first.
            for drawn in batch {
                let Some(drawn) = drawn? else {
                    report.cut = self.control.cut();
                    continue;
                };
                report.plans += 1;
                let outcome = &drawn.found.outcome;
                if outcome.judgement.failure {
                    report.failing += 1;
                    if seen.is_new_as_drawn(likeness(&outcome.judgement, &drawn.found.plan)) {
                        fails_anew.push(drawn);
                    }
                }
            }
            let finds: Vec<_> = fails_anew
                .into_par_iter()
                .map(|drawn| self.shrunk(drawn))
                .collect();
            for find in finds {
                seen.keep_if_new(find?, &mut report.finds);
            }
            match to.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(report)
    }

    /// The seed and plan of this number, and what they give.
    ///
    /// # Errors
    /// An execution that fails, a fault without effect.
    pub fn plan(&self, number: u64) -> Result<(u64, RandomPlan), ExploreError> {
        let drawn = self.draw(number, &self.kinds())?;
        Ok((drawn.seed, drawn.found))
    }

    /// `None`: the control says stop.
    fn one(&self, number: u64, kinds: &[FaultKind]) -> Result<Option<Drawn>, ExploreError> {
        if self.control.cut().is_some() {
            return Ok(None);
        }
        let drawn = self.draw(number, kinds)?;
        repeat_if_chosen(self.execute, drawn.seed, &drawn.found)?;
        self.control.count_plan();
        Ok(Some(drawn))
    }

    fn draw(&self, number: u64, kinds: &[FaultKind]) -> Result<Drawn, ExploreError> {
        let mut draw = Draw::new(number);
        let (first, last) = (*self.seeds.start(), *self.seeds.end());
        let count = last.saturating_sub(first).saturating_add(1);
        let seed = first.saturating_add(draw.below(count));
        let (least, most) = (*self.faults.start(), *self.faults.end());
        let faults = least + draw.below(u64::from(most.saturating_sub(least)) + 1) as u8;
        let few = some_of(kinds, &mut draw);
        let found = grow(self.execute, seed, faults, |sites, later, wanted| {
            self.fault(sites, later, wanted, &few, &mut draw)
        })?;
        Ok(Drawn {
            number,
            seed,
            found,
        })
    }

    /// The kinds that apply anywhere, by number.
    fn kinds(&self) -> Vec<FaultKind> {
        let mut kinds = Vec::new();
        for step in 0..=u8::MAX {
            for phase in Phase::ALL {
                let choices = self.space.faults_at(step, phase, true).iter();
                kinds.extend(choices.map(|(kind, _)| *kind));
            }
        }
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// The first of as many sites as faults are wanted, each drawn from those that are left: so
    /// the faults of a plan stand anywhere, not ever closer to the end. There, any of the kinds.
    fn fault(
        &self,
        sites: &[Reached],
        later: usize,
        wanted: usize,
        kinds: &[FaultKind],
        draw: &mut Draw,
    ) -> Option<(usize, Fault)> {
        let offered = |at: &Reached| {
            let mut offered: Vec<FaultKind> =
                self.space.at(at).iter().map(|(kind, _)| *kind).collect();
            offered.dedup();
            offered.retain(|kind| kinds.contains(kind));
            offered
        };
        let places: Vec<usize> = (later..sites.len())
            .filter(|place| sites.get(*place).is_some_and(|at| !offered(at).is_empty()))
            .collect();
        let drawn = (0..wanted).map(|_| draw.below(places.len() as u64) as usize);
        let place = *places.get(drawn.min()?)?;
        let at = sites.get(place)?;
        let offered = offered(at);
        let kind = *offered.get(draw.below(offered.len() as u64) as usize)?;
        let fault = Fault {
            site: at.site,
            kind,
            magnitude_ms: self.magnitude(kind, at, draw),
        };
        Some((place, fault))
    }

    /// Just under or just over one of the deadlines: the distance is from 1 ms to less than the
    /// deadline, each order of magnitude (power of two) as likely.
    fn magnitude(&self, kind: FaultKind, at: &Reached, draw: &mut Draw) -> i64 {
        let amount = faults::of(kind).amount;
        match amount {
            Amount::Nothing => return 0,
            // How far the standby is behind is not drawn: the scenario says it.
            Amount::Losing => {
                let choices = self.space.at(at).iter();
                let said = choices.filter(|(of, _)| *of == kind).map(|(_, ms)| *ms);
                return said.max().unwrap_or(0);
            }
            Amount::Lasting | Amount::Jumping => {}
        }
        let place = draw.below(self.deadlines_ms.len() as u64) as usize;
        let deadline = self.deadlines_ms.get(place).copied().unwrap_or(1).max(1);
        let power = draw.below(u64::from((deadline / 2).max(1).ilog2()) + 1);
        let distance = (1_i64 << power) + draw.below(1 << power) as i64;
        let length = match draw.below(2) {
            0 => (deadline - distance).max(1),
            _ => deadline.saturating_add(distance),
        };
        let backwards = amount == Amount::Jumping && draw.below(2) == 0;
        if backwards { -length } else { length }
    }

    /// What is left of a plan that fails; where the time is over, all of it.
    fn shrunk(&self, drawn: Drawn) -> Result<Find, ExploreError> {
        let Drawn {
            number,
            seed,
            found,
        } = drawn;
        let (plan, outcome) = match self.control.cut() {
            Some(_) => (found.plan, found.outcome),
            None => {
                let shrunk = shrink(self.execute, self.space, seed, &found.plan)?;
                (shrunk.plan, shrunk.outcome)
            }
        };
        Ok(Find {
            number,
            seed,
            plan,
            judgement: outcome.judgement,
            trace_hash: outcome.trace_hash,
        })
    }
}

/// Each of the kinds as likely as not; all of them where that would be none.
fn some_of(kinds: &[FaultKind], draw: &mut Draw) -> Vec<FaultKind> {
    let bits = draw.bits();
    let some: Vec<FaultKind> = kinds
        .iter()
        .copied()
        .filter(|kind| bits & (1 << (*kind as u32)) != 0)
        .collect();
    match some.is_empty() {
        true => kinds.to_vec(),
        false => some,
    }
}

/// What was found so far, as it was drawn and as it was shrunk: so that a plan is shrunk only if
/// it looks new, and kept only if it is.
#[derive(Default)]
struct Seen {
    drawn: BTreeSet<Likeness>,
    shrunk: BTreeSet<Likeness>,
}

impl Seen {
    fn is_new_as_drawn(&mut self, likeness: Likeness) -> bool {
        self.drawn.insert(likeness)
    }

    fn keep_if_new(&mut self, find: Find, finds: &mut Vec<Find>) {
        if self.shrunk.insert(find.likeness()) {
            finds.push(find);
        }
    }
}
