//! Does a scenario do what it says? Explores by increasing number of faults and judges.

use crate::known::Known;
use crate::met::{Ground, is_broken, judge};
use crate::tree::{Merging, Walked};
use crate::{
    Choices, Control, Counterexample, Coverage, Digest, Execute, Expectation, ExploreError,
    Journal, Level, Met, Question, Share, Table, Tree, Width,
};
use evidence::Verdict;
use scenarios::spec::Space;
use std::ops::RangeInclusive;

/// Up to which number of faults a space is explored.
#[derive(Clone, Copy)]
pub struct Bound<'a> {
    /// The space.
    pub space: Space,
    /// The number of faults.
    pub up_to: u8,
    /// The faults of the space.
    pub choices: &'a dyn Choices,
}

/// The bounds of a check that says nothing else: both of them.
pub const DEFAULT_BOUNDS: [(Space, u8); 2] = [(Space::Core, 2), (Space::Full, 1)];

/// The most plans of a level that is run only to be shown, where an execution has a hundred sites;
/// fewer where it has more: a second or two.
pub const SHOWN_AT_MOST: u64 = 30_000;

/// A check: what to run, how far, and what to expect.
#[derive(Clone, Copy)]
pub struct Check<'a> {
    /// Runs the plans.
    pub execute: &'a dyn Execute,
    /// The declared seeds, both ends included.
    pub seeds: &'a RangeInclusive<u64>,
    /// Spaces and depths. A level is run once, over the union of the spaces that reach it.
    pub bounds: &'a [Bound<'a>],
    /// What the scenario says.
    pub expectation: &'a Expectation,
    /// Go on after the first level with a failure.
    pub all_plans: bool,
    /// After the last level that is judged, run the next one if it has at most so many plans;
    /// see [`SHOWN_AT_MOST`].
    pub show_next_up_to: u64,
    /// How the levels are walked.
    pub walking: Walking<'a>,
    /// Progress and early end.
    pub control: &'a Control,
}

/// How the levels of a check are walked.
#[derive(Clone, Copy)]
pub struct Walking<'a> {
    /// Whether a plan that rests in a state from which another plan goes on is left to that one.
    /// Without, every plan is run to its end: slower, with the same result.
    pub merge: bool,
    /// The share of the last level that is run; `None`: all of it.
    pub share: Option<Share>,
    /// Where finished batches are kept.
    pub journal: Option<&'a dyn Journal>,
}

impl Default for Walking<'_> {
    fn default() -> Self {
        Walking {
            merge: true,
            share: None,
            journal: None,
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Whether the expectation is met.
    pub met: Met,
    /// How far the exploration went.
    pub explored: Explored,
    /// The plan to show: the canonically first of the first broken level that is what was
    /// expected, else the canonically first that fails.
    pub counterexample: Option<Counterexample>,
    /// The levels that were judged, from 0.
    pub levels: Vec<Level>,
    /// What comes after the last fault that the promise was expected to survive.
    pub next: Option<NextLevel>,
    /// Entries of `also` that never appeared.
    pub also_never_seen: Vec<Verdict>,
}

/// How far an exploration went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Each space, and how far. Empty where one given plan was run.
    pub spaces: Vec<SpaceExplored>,
    /// The seeds, both ends included.
    pub seeds: RangeInclusive<u64>,
    /// Sites of the first seed's fault-free execution at which some fault of the spaces applies.
    pub sites: u64,
    /// Single faults that apply there.
    pub faults: u64,
    /// Number of (seed, plan) pairs that ran in the levels judged.
    pub plans: u64,
    /// Number that were not run, since they go on from a state from which plans were run already.
    pub merged: u64,
    /// Why no plans were merged, where they could not be.
    pub unmerged_because: Option<&'static str>,
    /// Number of executions this took.
    pub executions: u64,
    /// Over all of those pairs and their histories.
    pub digest: Digest,
}

/// How far one space was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceExplored {
    /// The space.
    pub space: Space,
    /// The largest number of faults begun.
    pub max_faults: u8,
    /// True if every plan of the space with so many faults or fewer ran, under every seed.
    pub exhausted: bool,
}

/// The level after those that are judged: shown, so that a reader sees where a promise ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextLevel {
    /// It was run.
    Ran(Box<Level>),
    /// It has more plans than the limit, and was not run.
    TooLarge {
        /// Number of faults.
        faults: u8,
        /// Number of (seed, plan) pairs it has at least.
        plans: u64,
    },
}

impl Checked {
    /// The verdict of the counterexample, else the worst that any plan gave.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.counterexample {
            Some(example) => Some(example.verdict()),
            None => self
                .levels
                .iter()
                .filter_map(|level| level.verdicts.keys().next().copied())
                .min(),
        }
    }

    /// Which kinds took effect at which steps, in the levels judged.
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        for level in &self.levels {
            coverage.merge(&level.coverage);
        }
        coverage
    }
}

/// Explores as far as the check says, and judges.
///
/// Runs on the current rayon pool. Apart from cuts, the result does not depend on threads.
///
/// # Errors
/// An execution that fails, a fault without effect, a plan that does not repeat.
pub fn check(check: &Check<'_>) -> Result<Checked, ExploreError> {
    Checking::new(check).run()
}

/// A check while it runs.
struct Checking<'a> {
    check: &'a Check<'a>,
    tree: Tree<'a>,
    /// The faults to choose from, by level, up to one level past the deepest bound.
    spaces: Vec<Table>,
    deepest: u8,
}

impl<'a> Checking<'a> {
    fn new(check: &'a Check<'a>) -> Self {
        let deepest = check
            .bounds
            .iter()
            .map(|bound| bound.up_to)
            .max()
            .unwrap_or(0);
        Checking {
            check,
            tree: Tree {
                execute: check.execute,
                seeds: check.seeds,
                control: check.control,
            },
            spaces: (0..=deepest.saturating_add(1))
                .map(|faults| space_of_level(check.bounds, faults.min(deepest)))
                .collect(),
            deepest,
        }
    }

    fn run(&self) -> Result<Checked, ExploreError> {
        let levels = self.judged_levels()?;
        let width = self.tree.width(self.space(1))?;
        let ground = Ground {
            seeds: seed_count(self.check.seeds),
            deepest: self.deepest,
            single_faults: width.faults,
        };
        let met = judge(self.check.expectation, &levels, ground);
        Ok(Checked {
            next: self.next_level(&met, &levels, width)?,
            also_never_seen: never_seen(self.check.expectation, &levels),
            explored: Explored {
                unmerged_because: self.check.execute.opaque(),
                ..explored(
                    &levels,
                    self.spaces_explored(&levels),
                    self.check.seeds,
                    width,
                )
            },
            counterexample: first_shown(&levels),
            met,
            levels,
        })
    }

    fn judged_levels(&self) -> Result<Vec<Level>, ExploreError> {
        let last = match self.check.expectation {
            Expectation::Holds {
                faults: Some(faults),
            } => self.deepest.min(*faults),
            _ => self.deepest,
        };
        let mut levels: Vec<Level> = Vec::new();
        let mut known = self.merges().then(Known::default);
        for faults in 0..=last {
            let seeds = seed_count(self.check.seeds);
            let expected = levels.last().map_or(seeds, |level| level.next_plans);
            let share = self.check.walking.share.filter(|_| faults == last);
            let level = self.merged_level(faults, last, expected, share, &mut known)?;
            let ends = level.cut.is_some() || (is_broken(&level) && !self.check.all_plans);
            levels.push(level);
            if ends {
                break;
            }
        }
        Ok(levels)
    }

    fn merges(&self) -> bool {
        self.check.walking.merge && self.check.execute.opaque().is_none()
    }

    /// One level, merged if nothing in it fails, else in full: then and from then on every way to
    /// fail is to be seen.
    fn merged_level(
        &self,
        faults: u8,
        last: u8,
        expected: u64,
        share: Option<Share>,
        known: &mut Option<Known>,
    ) -> Result<Level, ExploreError> {
        if let Some(states) = known {
            let deepest = self.space(last);
            let merging = Merging {
                known: states,
                // Where a larger space is walked, the owner of a state may have faults that the
                // levels to come do not have.
                walks: self.space(faults) == deepest,
                proposes: (faults < last).then_some(deepest),
            };
            match self.walk(faults, expected, share, Some(merging))? {
                Walked::Level(mut level) => {
                    let walks = merging.walks;
                    learn(states, &mut level, walks);
                    return Ok(*level);
                }
                Walked::Broken => *known = None,
            }
        }
        self.level(faults, expected, share)
    }

    fn level(
        &self,
        faults: u8,
        expected: u64,
        share: Option<Share>,
    ) -> Result<Level, ExploreError> {
        match self.walk(faults, expected, share, None)? {
            Walked::Level(level) => Ok(*level),
            // Nothing is called broken where nothing is merged.
            Walked::Broken => Ok(Level::of(faults)),
        }
    }

    fn walk(
        &self,
        faults: u8,
        expected: u64,
        share: Option<Share>,
        merging: Option<Merging<'_>>,
    ) -> Result<Walked, ExploreError> {
        self.check.control.begin_level(faults.into(), expected);
        self.tree.walk(&Question {
            faults,
            space: self.space(faults),
            next_space: self.spaces.get(usize::from(faults) + 1),
            wanted: &|plan, judgement| self.check.expectation.is_matched_by(plan, judgement),
            merging,
            share,
            journal: self.check.walking.journal,
        })
    }

    fn space(&self, faults: u8) -> &Table {
        let place = usize::from(faults).min(self.spaces.len() - 1);
        &self.spaces[place]
    }

    /// Where a promise held, what the next level gives.
    fn next_level(
        &self,
        met: &Met,
        levels: &[Level],
        width: Width,
    ) -> Result<Option<NextLevel>, ExploreError> {
        let promised = matches!(self.check.expectation, Expectation::Holds { .. });
        let (true, Met::Yes, Some(last)) = (promised, met, levels.last()) else {
            return Ok(None);
        };
        let Some(faults) = last.faults.checked_add(1) else {
            return Ok(None);
        };
        let plans = last.next_plans;
        let hundreds_of_sites = width.sites.div_ceil(100).max(1);
        if plans.saturating_mul(hundreds_of_sites) > self.check.show_next_up_to {
            return Ok(Some(NextLevel::TooLarge { faults, plans }));
        }
        let level = self.level(faults, plans, None)?;
        Ok(Some(NextLevel::Ran(Box::new(level))))
    }

    fn spaces_explored(&self, levels: &[Level]) -> Vec<SpaceExplored> {
        let begun = levels.last().map_or(0, |level| level.faults);
        self.check
            .bounds
            .iter()
            .map(|bound| {
                let max_faults = bound.up_to.min(begun);
                let exhausted = levels
                    .iter()
                    .filter(|level| level.faults <= max_faults)
                    .all(Level::is_exhausted);
                SpaceExplored {
                    space: bound.space,
                    max_faults,
                    exhausted,
                }
            })
            .collect()
    }
}

/// A merged level is done: counts the plans that it did not run, and learns its states.
fn learn(known: &mut Known, level: &mut Level, walks: bool) {
    let tally = std::mem::take(&mut level.tally);
    if walks && level.is_exhausted() {
        level.merged = known.count(&tally).saturating_sub(level.plans);
    }
    known.learn(std::mem::take(&mut level.proposals));
}

/// The union of the spaces that are explored to this number of faults.
fn space_of_level(bounds: &[Bound<'_>], faults: u8) -> Table {
    let spaces: Vec<&dyn Choices> = bounds
        .iter()
        .filter(|bound| bound.up_to >= faults)
        .map(|bound| bound.choices)
        .collect();
    Table::of(&spaces)
}

pub(crate) fn explored(
    levels: &[Level],
    spaces: Vec<SpaceExplored>,
    seeds: &RangeInclusive<u64>,
    width: Width,
) -> Explored {
    let mut digest = Digest::default();
    for level in levels {
        digest.merge(level.digest);
    }
    Explored {
        spaces,
        seeds: seeds.clone(),
        sites: width.sites,
        faults: width.faults,
        plans: levels.iter().map(|level| level.plans).sum(),
        merged: levels.iter().map(|level| level.merged).sum(),
        unmerged_because: None,
        executions: levels.iter().map(|level| level.executions).sum(),
        digest,
    }
}

pub(crate) fn first_shown(levels: &[Level]) -> Option<Counterexample> {
    let level = levels.iter().find(|level| is_broken(level))?;
    level
        .first_matching
        .as_ref()
        .or(level.first_failing.as_ref())
        .cloned()
}

fn never_seen(expectation: &Expectation, levels: &[Level]) -> Vec<Verdict> {
    match (expectation, levels.iter().find(|level| is_broken(level))) {
        (Expectation::Breaks(failure), Some(level)) => failure.never_seen(level),
        _ => Vec::new(),
    }
}

pub(crate) fn seed_count(seeds: &RangeInclusive<u64>) -> u64 {
    match seeds.end().checked_sub(*seeds.start()) {
        Some(more) => more.saturating_add(1),
        None => 0,
    }
}
