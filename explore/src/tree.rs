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

use crate::counterexample::Rank;
use crate::execute::perform;
use crate::fingerprint::PlanBytes;
use crate::{Choice, Control, Cut, Execute, ExploreError, Level, Table};
use crate::{Outcome, Reached};
use evidence::Judgement;
use rayon::prelude::*;
use scenarios::spec::{Fault, Plan};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

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
}

impl Tree<'_> {
    /// Runs every plan of one level, on the threads of the current rayon pool.
    ///
    /// # Errors
    /// An execution that fails, a fault without effect; where there are several, the first in the
    /// order of (seed, first fault, rest of the plan). A plan that does not repeat; any one.
    pub fn level(&self, question: &Question<'_>) -> Result<Level, ExploreError> {
        let mut level = Level::of(question.faults);
        let (mut from, last) = (*self.seeds.start(), *self.seeds.end());
        while from <= last && level.cut.is_none() {
            let to = from.saturating_add(SEEDS_AT_ONCE - 1).min(last);
            level = level.merge(self.level_of_seeds(question, from..=to)?);
            match to.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
        let again = level.samples.repeat_rest(self.execute)?;
        level.repeated += again;
        level.executions += again;
        Ok(level)
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
    ) -> Result<Level, ExploreError> {
        let run = Run {
            tree: self,
            question,
            first_error: AtomicUsize::new(usize::MAX),
        };
        if question.faults == 0 {
            let seeds: Vec<u64> = seeds.collect();
            return run.units(&seeds, |walk, seed| walk.root(*seed));
        }
        let (roots, executions) = self.roots(seeds)?;
        let units = first_faults(&roots, question.space);
        let mut level = run.units(&units, Walk::first_fault)?;
        level.executions += executions;
        Ok(level)
    }

    /// The sites that the empty plan reaches, under each seed.
    fn roots(&self, seeds: RangeInclusive<u64>) -> Result<(Vec<Root>, u64), ExploreError> {
        let roots: Vec<Root> = seeds
            .collect::<Vec<u64>>()
            .into_par_iter()
            .map(|seed| self.fault_free(seed))
            .collect::<Result<_, _>>()?;
        let executions = roots.len() as u64;
        Ok((roots, executions))
    }

    fn fault_free(&self, seed: u64) -> Result<Root, ExploreError> {
        let plan = Plan::empty();
        let outcome = perform(self.execute, seed, &plan)
            .map_err(|source| ExploreError::at(seed, &plan, source))?;
        Ok(Root {
            seed,
            sites: outcome.sites,
        })
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

struct Root {
    seed: u64,
    sites: Vec<Reached>,
}

/// The first fault of the plans that one unit of work runs.
#[derive(Clone, Copy)]
struct Unit {
    seed: u64,
    place: u32,
    reached: Reached,
    choice: Choice,
}

fn first_faults(roots: &[Root], space: &Table) -> Vec<Unit> {
    let mut units = Vec::new();
    for root in roots {
        for (place, reached) in root.sites.iter().enumerate() {
            units.extend(space.at(reached).iter().map(|choice| Unit {
                seed: root.seed,
                place: place as u32,
                reached: *reached,
                choice: *choice,
            }));
        }
    }
    units
}

/// One level over some seeds, while it runs.
struct Run<'a> {
    tree: &'a Tree<'a>,
    question: &'a Question<'a>,
    /// Units after this one need not run: their errors would not be the first.
    first_error: AtomicUsize,
}

impl<'a> Run<'a> {
    fn units<T: Sync>(
        &'a self,
        units: &[T],
        run: impl Fn(&mut Walk<'a>, &T) -> Result<(), Halt> + Sync,
    ) -> Result<Level, ExploreError> {
        let (level, error) = units
            .par_iter()
            .enumerate()
            .fold(
                || (Walk::new(self), None),
                |(mut walk, mut error), (number, unit)| {
                    if self.first_error.load(Ordering::Relaxed) > number {
                        match run(&mut walk, unit) {
                            Ok(()) => {}
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
        match error {
            Some((_, error)) => Err(*error),
            None => Ok(level),
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

/// Why a walk ends before its unit is done.
enum Halt {
    Cut(Cut),
    Error(Box<ExploreError>),
}

impl From<ExploreError> for Halt {
    fn from(error: ExploreError) -> Self {
        Halt::Error(Box::new(error))
    }
}

/// A depth-first walk; its buffers grow and shrink with the plan.
struct Walk<'a> {
    run: &'a Run<'a>,
    seed: u64,
    plan: Plan,
    /// For each fault, the place of its site in the execution of the plan before it.
    places: Vec<u32>,
    bytes: PlanBytes,
    /// How many faults of the plan are not in the next level's space.
    outside_next: u32,
    level: Level,
}

impl<'a> Walk<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        Walk {
            run,
            seed: 0,
            plan: Plan::empty(),
            places: Vec::new(),
            bytes: PlanBytes::of(0, &[]),
            outside_next: 0,
            level: Level::of(run.question.faults),
        }
    }

    fn begin(&mut self, seed: u64) {
        self.seed = seed;
        self.plan.faults.clear();
        self.places.clear();
        self.bytes = PlanBytes::of(seed, &[]);
        self.outside_next = 0;
    }

    fn root(&mut self, seed: u64) -> Result<(), Halt> {
        self.begin(seed);
        self.visit()
    }

    fn first_fault(&mut self, unit: &Unit) -> Result<(), Halt> {
        self.begin(unit.seed);
        self.with_fault(unit.place, &unit.reached, unit.choice)
    }

    /// Visits the plan with one more fault, then takes the fault off again.
    fn with_fault(&mut self, place: u32, at: &Reached, choice: Choice) -> Result<(), Halt> {
        let (kind, magnitude_ms) = choice;
        let fault = Fault {
            site: at.site,
            kind,
            magnitude_ms,
        };
        let outside = self
            .run
            .question
            .next_space
            .is_some_and(|next| !next.offers(at, choice));
        self.plan.faults.push(fault);
        self.places.push(place);
        self.bytes.push(&fault);
        self.outside_next += u32::from(outside);
        self.visit()?;
        self.outside_next -= u32::from(outside);
        self.bytes.pop();
        self.places.pop();
        self.plan.faults.pop();
        Ok(())
    }

    /// Executes the plan; adds it to the level, or goes on to all its extensions.
    fn visit(&mut self) -> Result<(), Halt> {
        if let Some(cut) = self.run.tree.control.cut() {
            return Err(Halt::Cut(cut));
        }
        let outcome = perform(self.run.tree.execute, self.seed, &self.plan)
            .map_err(|source| ExploreError::at(self.seed, &self.plan, source))?;
        self.level.executions += 1;
        let later = self.later_than_last_fault(&outcome.sites);
        if self.plan.faults.len() == usize::from(self.run.question.faults) {
            return self.add(&outcome, later);
        }
        let sites = outcome.sites;
        for (place, at) in sites.iter().enumerate().skip(later) {
            for choice in self.run.question.space.at(at) {
                self.with_fault(place as u32, at, *choice)?;
            }
        }
        Ok(())
    }

    /// The place of the first site after the last fault.
    ///
    /// Up to the fault an execution is that of the shorter plan, so the site stands where it
    /// stood there; the search is for executions that number their sites otherwise.
    fn later_than_last_fault(&self, sites: &[Reached]) -> usize {
        let (Some(fault), Some(place)) = (self.plan.faults.last(), self.places.last()) else {
            return 0;
        };
        let place = *place as usize;
        if sites.get(place).is_some_and(|at| at.site == fault.site) {
            return place + 1;
        }
        sites
            .iter()
            .position(|at| at.site == fault.site)
            .map_or(sites.len(), |found| found + 1)
    }

    fn add(&mut self, outcome: &Outcome, later: usize) -> Result<(), Halt> {
        let Run { tree, question, .. } = self.run;
        let trace = outcome.trace_hash;
        let hash = self.bytes.hash();
        self.level.samples.offer(hash, self.seed, &self.plan, trace);
        let again = self.level.samples.repeat_if_many(tree.execute)?;
        self.level.repeated += again;
        self.level.executions += again;
        self.level.digest.merge(self.bytes.digest(trace));
        self.level.places.add(&outcome.sites[later..]);
        if let (Some(next), 0) = (question.next_space, self.outside_next) {
            self.level.next_plans += next.count(&outcome.sites[later..]);
        }
        let wanted = (question.wanted)(&self.plan, &outcome.judgement);
        let rank = Rank {
            places: &self.places,
            faults: &self.plan.faults,
            seed: self.seed,
        };
        self.level.add(&rank, outcome, wanted);
        tree.control.count_plan();
        Ok(())
    }
}
