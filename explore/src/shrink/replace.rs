//! Several faults of a plan replaced by others: the way out of where nothing can be dropped.
//!
//! A bounded exhaustive search for a plan with fewer faults, by what is likely and cheap:
//!
//! ```text
//!   one fault      every one there is
//!   two faults     both at the steps of the plan's own, of every kind the longest
//!   one beside     for every part of the plan that is kept, every fault beside it
//!   two faults     one of the plan's own kinds and steps, and every other
//! ```
//!
//! The last two first with every kind's longest, then with every magnitude.
//! What stands near the plan's faults comes first, since it is most often what they did.

use super::{Shrinking, fault_at, same_call, strength, subsets, with};
use crate::{Choice, ExploreError, Reached, cell_of};
use scenarios::spec::{Cell, Fault, Plan, Site};

/// How many sites all executions of one shrinking may reach before replacing ends. An execution
/// reaches a hundred or so and takes a quarter of a microsecond for each: a good second.
const MOST_REACHED: u64 = 5_000_000;

/// Which faults a search looks at.
#[derive(Clone, Copy)]
enum Among<'a> {
    All,
    /// Those of these kinds and steps.
    Cells(&'a [Cell]),
    /// Of each kind the longest.
    Longest,
    /// The same, at these steps.
    LongestAt(&'a [u8]),
}

impl Shrinking<'_> {
    /// Replaces two faults or more by one, or three or more by two, or any by one fewer.
    pub(super) fn replace_some(&mut self) -> Result<bool, ExploreError> {
        let faults = self.best.plan.faults.len();
        if faults < 2 {
            return Ok(false);
        }
        if self.one_beside(&Plan::empty(), Among::All)? {
            return Ok(true);
        }
        if faults < 3 {
            return Ok(false);
        }
        let own = self.best.plan.faults.clone();
        let steps: Vec<u8> = own.iter().map(|fault| fault.site.step).collect();
        let at_own_steps = Among::LongestAt(&steps);
        if self.two(at_own_steps, at_own_steps)? {
            return Ok(true);
        }
        let cells: Vec<Cell> = own.iter().map(cell_of).collect();
        for among in [Among::Longest, Among::All] {
            // Replacing few is most likely to do, and what does begins all of this again.
            for size in (1..faults - 1).rev() {
                for kept in subsets(faults, size) {
                    if self.one_beside(&self.only(&kept), among)? {
                        return Ok(true);
                    }
                }
            }
            if self.two(Among::Cells(&cells), among)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries every pair of a first fault and a second.
    fn two(&mut self, first: Among<'_>, second: Among<'_>) -> Result<bool, ExploreError> {
        for first in self.beside(&Plan::empty(), first)? {
            if self.one_beside(&first, second)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries every fault beside those that are kept.
    fn one_beside(&mut self, kept: &Plan, among: Among<'_>) -> Result<bool, ExploreError> {
        if self.reached > MOST_REACHED {
            return Ok(false);
        }
        for candidate in self.beside(kept, among)? {
            if self.reached > MOST_REACHED {
                return Ok(false);
            }
            if self.accept(candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A plan with each of the faults that can go beside it, ordered by how near they are to what
    /// went wrong so far, then from the weakest to the strongest, then by site.
    fn beside(&mut self, kept: &Plan, among: Among<'_>) -> Result<Vec<Plan>, ExploreError> {
        let Some(outcome) = self.attempt(kept)? else {
            return Ok(Vec::new());
        };
        let mut faults = Vec::new();
        for at in &outcome.sites {
            if kept.faults.iter().all(|fault| fault.site != at.site) {
                self.add_offered(at, among, &mut faults);
            }
        }
        // Stable, so that what is equally near stays in the order of sites.
        faults.sort_by_cached_key(|fault| {
            let choice = (fault.kind, fault.magnitude_ms);
            (self.distance(&fault.site, choice), strength(choice))
        });
        let plans = faults.into_iter().map(|fault| with(kept, fault, &outcome));
        Ok(plans.collect())
    }

    fn add_offered(&self, at: &Reached, among: Among<'_>, faults: &mut Vec<Fault>) {
        let site = at.site;
        let choices = self.choices.faults_at(site.step, site.phase, at.replayable);
        for (place, choice) in choices.iter().enumerate() {
            let fault = fault_at(site, *choice);
            // Choices are ordered by kind, then magnitude.
            let is_longest = choices
                .get(place + 1)
                .is_none_or(|next| next.0 != fault.kind);
            let is_meant = match among {
                Among::All => true,
                Among::Cells(cells) => cells.contains(&cell_of(&fault)),
                Among::Longest => is_longest,
                Among::LongestAt(steps) => is_longest && steps.contains(&site.step),
            };
            if is_meant {
                faults.push(fault);
            }
        }
    }

    /// From the nearest fault of the plan: how far the site is, then whether the kind is another.
    fn distance(&self, site: &Site, (kind, _): Choice) -> (u8, bool) {
        let from = |fault: &Fault| {
            let other = &fault.site;
            let far = if same_call(site, other) {
                0
            } else if site.step == other.step {
                1
            } else if (site.instance, site.run) == (other.instance, other.run) {
                2
            } else {
                3
            };
            (far, kind != fault.kind)
        };
        let distances = self.best.plan.faults.iter().map(from);
        distances.min().unwrap_or((u8::MAX, true))
    }
}
