//! Every plan of a bounded number of faults, each run once: the tree of plans, level by level.
//!
//! The root is the empty plan. A plan is extended by a fault at a site that *its own execution*
//! reached, later than its last fault: a fault that makes somebody retry creates new sites, and
//! those are explored too. Level k is all plans of exactly k faults.
//!
//! ```text
//!        empty plan reached  s1  s2  s3          level 0: 1 plan
//!                           /    |    \
//!   reached  s1' s2 s3 s4  s2 s3 s4    s3        level 1: one plan per site and kind
//!            later than s1 ^^^^^^^^
//! ```
//!
//! Levels may hold millions of plans, so nothing is kept of them but a [`Level`]: a level is a
//! depth-first walk that executes the shorter plans again to see their sites (one in some hundred
//! executions). The walk is cut into units, one per (seed, first fault), that run on all threads;
//! all that is summed up is commutative or the minimum in canonical order, so the result does not
//! depend on who ran what.

use crate::execute::{perform, perform_until};
use crate::fingerprint::PlanBytes;
use crate::known::Known;
use crate::likely::likelihood;
use crate::walk::{Halt, Rests, Walk};
use crate::{Choice, Control, Execute, ExploreError, Level, Table};
use crate::{Journal, LevelName, Share};
use crate::{Outcome, Reached};
use evidence::Judgement;
use rayon::prelude::*;
use scenarios::spec::Plan;
use sim::State;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Decides whether an execution is what the caller looks for.
pub type Wanted<'a> = &'a (dyn Fn(&Plan, &Judgement) -> bool + Sync);

/// Seeds whose fault-free sites are held in memory at once.
const SEEDS_AT_ONCE: u64 = 256;

/// The trees of plans of all seeds.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Runs the plans.
    pub execute: &'a dyn Execute,
    /// The seeds, each with a tree of its own.
    pub seeds: &'a RangeInclusive<u64>,
    /// Progress and early end.
    pub control: &'a Control,
}

/// Which level to run, and what to find out.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// Number of faults of each plan.
    pub faults: u8,
    /// The faults to choose from.
    pub space: &'a Table,
    /// Count the plans of the next level in this space.
    pub next_space: Option<&'a Table>,
    /// What to look for.
    pub wanted: Wanted<'a>,
    /// Whether and how plans are merged; `None`: each is run to its end.
    pub merging: Option<Merging<'a>>,
    /// The share of the level's batches that is to be run; `None`: all.
    pub share: Option<Share>,
    /// Where finished batches are kept.
    pub journal: Option<&'a dyn Journal>,
}

/// How plans of a level are merged.
#[derive(Clone, Copy)]
pub struct Merging<'a> {
    /// The states of the levels before.
    pub(crate) known: &'a Known,
    /// Whether what goes on from a state that another plan owns is left to that one.
    pub(crate) walks: bool,
    /// The space of the levels to come, for which states are proposed.
    pub(crate) proposes: Option<&'a Table>,
}

/// How a level ended.
pub(crate) enum Walked {
    /// All of it was run, or as much as there was time for.
    Level(Box<Level>),
    /// It merges, and something fails.
    Broken,
}

impl<'a> Question<'a> {
    /// Every plan of one level, each run to its end.
    pub fn every_plan(faults: u8, space: &'a Table, wanted: Wanted<'a>) -> Self {
        Question {
            faults,
            space,
            next_space: None,
            wanted,
            merging: None,
            share: None,
            journal: None,
        }
    }

    pub(crate) const fn name(&self) -> LevelName {
        LevelName {
            faults: self.faults,
            merged: self.merging.is_some(),
        }
    }
}

impl Tree<'_> {
    /// Runs every plan of one level, on the threads of the current rayon pool.
    ///
    /// # Errors
    /// An execution that fails, a fault without effect; where there are several, the first in the
    /// order of (seed, first fault, rest of the plan). A plan that does not repeat; any one.
    pub fn level(&self, question: &Question<'_>) -> Result<Level, ExploreError> {
        let unmerged = Question {
            merging: None,
            ..*question
        };
        match self.walk(&unmerged)? {
            Walked::Level(level) => Ok(*level),
            // Nothing is called broken where nothing is merged.
            Walked::Broken => Ok(Level::of(question.faults)),
        }
    }

    /// Runs a level; one that merges ends at its first failure.
    pub(crate) fn walk(&self, question: &Question<'_>) -> Result<Walked, ExploreError> {
        let mut level = Level::of(question.faults);
        let (mut from, last) = (*self.seeds.start(), *self.seeds.end());
        while from <= last && level.cut.is_none() {
            let to = from.saturating_add(SEEDS_AT_ONCE - 1).min(last);
            match self.level_of_seeds(question, from..=to)? {
                Walked::Level(more) => level = level.merge(*more),
                Walked::Broken => return Ok(Walked::Broken),
            }
            match to.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(Walked::Level(Box::new(level)))
    }

    /// How many sites and single faults the fault-free execution of the first seed offers.
    ///
    /// # Errors
    /// An execution that fails.
    pub fn width(&self, space: &Table) -> Result<Width, ExploreError> {
        if self.seeds.is_empty() {
            return Ok(Width::default());
        }
        let root = self.fault_free(*self.seeds.start())?;
        Ok(Width {
            sites: root
                .sites
                .iter()
                .filter(|at| !space.at(at).is_empty())
                .count() as u64,
            faults: space.count(&root.sites),
        })
    }

    fn level_of_seeds(
        &self,
        question: &Question<'_>,
        seeds: RangeInclusive<u64>,
    ) -> Result<Walked, ExploreError> {
        let run = Run::of(self, question);
        let seeds: Vec<u64> = seeds.collect();
        if question.faults <= 1 {
            return run.units(&seeds, |walk, seed| walk.whole(*seed));
        }
        let roots: Vec<Root> = seeds
            .into_par_iter()
            .map(|seed| run.root(seed))
            .collect::<Result<_, _>>()?;
        let mut units: Vec<Unit> = roots
            .iter()
            .flat_map(|root| root.units(question.space))
            .collect();
        if question.merging.is_some() {
            // A level that merges ends at its first failure, whichever that is: it comes soonest
            // where the likely kinds are tried first. What is reported does not depend on it.
            units.sort_by_key(|unit| likelihood(unit.choice.0));
        }
        let walked = run.units(&units, Walk::first_fault)?;
        Ok(match walked {
            Walked::Level(mut level) => {
                level.executions += roots.len() as u64;
                for root in &roots {
                    root.name_past(&mut level, question.faults);
                }
                Walked::Level(level)
            }
            Walked::Broken => Walked::Broken,
        })
    }

    fn fault_free(&self, seed: u64) -> Result<Outcome, ExploreError> {
        let plan = Plan::empty();
        perform(self.execute, seed, &plan).map_err(|source| ExploreError::at(seed, &plan, source))
    }
}

/// What a fault-free execution offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Width {
    /// Sites at which some fault applies.
    pub sites: u64,
    /// Faults that apply, over all sites.
    pub faults: u64,
}

/// The fault-free execution under one seed.
struct Root {
    seed: u64,
    sites: Vec<Reached>,
    rests: Rests,
}

impl Root {
    /// One unit of work for each first fault.
    fn units<'a>(&'a self, space: &'a Table) -> impl Iterator<Item = Unit> + 'a {
        let places = (0..).zip(&self.sites);
        places.flat_map(move |(place, reached)| {
            let after = self.rests.before(place);
            space.at(reached).iter().map(move |choice| Unit {
                seed: self.seed,
                place,
                reached: *reached,
                choice: *choice,
                after,
            })
        })
    }

    /// What is past the first rest is counted by its state.
    fn name_past(&self, level: &mut Level, faults: u8) {
        if let Some(first) = self.rests.first() {
            level.tally.whole.add_past((self.seed, first), faults);
        }
    }
}

/// The first fault of the plans that one unit of work runs.
#[derive(Clone, Copy)]
pub(crate) struct Unit {
    pub seed: u64,
    pub place: u32,
    pub reached: Reached,
    pub choice: Choice,
    /// The state in which the world last rested before the fault.
    pub after: Option<State>,
}

/// One level over some seeds, while it runs.
pub(crate) struct Run<'a> {
    pub tree: &'a Tree<'a>,
    pub question: &'a Question<'a>,
    /// Units after this one need not run: their errors would not be the first.
    first_error: AtomicUsize,
    /// A level that merges has met a failure.
    broken: AtomicBool,
}

impl<'a> Run<'a> {
    fn of(tree: &'a Tree<'a>, question: &'a Question<'a>) -> Self {
        Run {
            tree,
            question,
            first_error: AtomicUsize::new(usize::MAX),
            broken: AtomicBool::new(false),
        }
    }

    fn root(&self, seed: u64) -> Result<Root, ExploreError> {
        let plan = Plan::empty();
        let outcome = self.perform(seed, &plan, PlanBytes::of(seed, &[]).hash())?;
        Ok(Root {
            seed,
            rests: Rests::of(&outcome),
            sites: outcome.sites,
        })
    }

    /// Executes a plan that is going to be extended: to its end, or to the first state from which
    /// another plan is.
    pub fn perform(&self, seed: u64, plan: &Plan, hash: u64) -> Result<Outcome, ExploreError> {
        let execute = self.tree.execute;
        match self.question.merging {
            Some(Merging {
                known, walks: true, ..
            }) => {
                let anothers = |state| known.is_anothers((seed, state), hash);
                perform_until(execute, seed, plan, &anothers)
            }
            _ => perform(execute, seed, plan),
        }
        .map_err(|source| ExploreError::at(seed, plan, source))
    }

    fn units<T: Sync>(
        &'a self,
        units: &[T],
        run: impl Fn(&mut Walk<'a>, &T) -> Result<(), Halt> + Sync,
    ) -> Result<Walked, ExploreError> {
        let (level, error) = units
            .par_iter()
            .enumerate()
            .fold(
                || (Walk::new(self), None),
                |(mut walk, mut error), (number, unit)| {
                    let goes_on = self.first_error.load(Ordering::Relaxed) > number
                        && !self.broken.load(Ordering::Relaxed);
                    if goes_on {
                        match run(&mut walk, unit) {
                            Ok(()) => {}
                            Err(Halt::Broken) => self.broken.store(true, Ordering::Relaxed),
                            Err(Halt::Cut(cut)) => walk.level.cut = Some(cut),
                            Err(Halt::Error(found)) => {
                                self.first_error.fetch_min(number, Ordering::Relaxed);
                                keep_lower(&mut error, Some((number, found)));
                            }
                        }
                    }
                    (walk, error)
                },
            )
            .map(|(walk, error)| (walk.level, error))
            .reduce(
                || (Level::of(self.question.faults), None),
                |(level, mut error), (other, others_error)| {
                    keep_lower(&mut error, others_error);
                    (level.merge(other), error)
                },
            );
        if self.broken.load(Ordering::Relaxed) {
            return Ok(Walked::Broken);
        }
        match error {
            Some((_, error)) => Err(*error),
            None => Ok(Walked::Level(Box::new(level))),
        }
    }
}

/// The number of a unit, and what went wrong in it.
type Failed = Option<(usize, Box<ExploreError>)>;

fn keep_lower(kept: &mut Failed, other: Failed) {
    let lower = match (&*kept, &other) {
        (Some((kept, _)), Some((other, _))) => other < kept,
        (None, Some(_)) => true,
        (_, None) => false,
    };
    if lower {
        *kept = other;
    }
}
