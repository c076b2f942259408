//! The depth-first walk through a part of a level: what is executed, and what is kept of it.

use crate::batch::Part;
use crate::counterexample::Rank;
use crate::execute::{perform, perform_until};
use crate::fingerprint::PlanBytes;
use crate::known::{Proposal, propose};
use crate::likely::likelihood;
use crate::sample::Repeat;
use crate::tally::Form;
use crate::tree::{Run, Unit};
use crate::{Choice, Cut, ExploreError, Level, Outcome, Reached};
use evidence::Verdict;
use scenarios::spec::{Fault, Plan};
use sim::State;

/// Why a walk ends before its unit is done.
pub(crate) enum Halt {
    Cut(Cut),
    Error(Box<ExploreError>),
    /// A level that merges has met a failure.
    Broken,
}

impl From<ExploreError> for Halt {
    fn from(error: ExploreError) -> Self {
        Halt::Error(Box::new(error))
    }
}

/// Where an execution rested after its last fault: how many sites it had reached, in which state.
pub(crate) struct Rests(Vec<(u32, State)>);

impl Rests {
    pub fn of(outcome: &Outcome) -> Self {
        let rests = outcome.rest_points.iter();
        Rests(rests.map(|rest| (rest.sites, rest.state)).collect())
    }

    pub fn first(&self) -> Option<State> {
        self.0.first().map(|(_, state)| *state)
    }

    /// The last rest before the site at this place.
    pub fn before(&self, place: u32) -> Option<State> {
        let past = self.0.partition_point(|(sites, _)| *sites <= place);
        let last = past.checked_sub(1)?;
        self.0.get(last).map(|(_, state)| *state)
    }
}

/// A depth-first walk; its buffers grow and shrink with the plan.
pub(crate) struct Walk<'a> {
    run: &'a Run<'a>,
    seed: u64,
    plan: Plan,
    /// For each fault, the place of its site in the execution of the plan before it.
    places: Vec<u32>,
    bytes: PlanBytes,
    /// How many faults of the plan are not in the next level's space.
    outside_next: u32,
    /// How many are not in the space for which states are proposed.
    outside_merging: u32,
    pub level: Level,
}

impl<'a> Walk<'a> {
    pub fn new(run: &'a Run<'a>) -> Self {
        Walk {
            run,
            seed: 0,
            plan: Plan::empty(),
            places: Vec::new(),
            bytes: PlanBytes::of(0, &[]),
            outside_next: 0,
            outside_merging: 0,
            level: Level::of(run.question.faults),
        }
    }

    fn begin(&mut self, seed: u64) {
        self.seed = seed;
        self.plan.faults.clear();
        self.places.clear();
        self.bytes = PlanBytes::of(seed, &[]);
        self.outside_next = 0;
        self.outside_merging = 0;
    }

    /// All plans of one seed.
    pub fn whole(&mut self, seed: u64) -> Result<(), Halt> {
        self.begin(seed);
        let form = self.batch()?;
        self.level.tally.whole.add(&form);
        Ok(())
    }

    /// All plans with this first fault.
    pub fn first_fault(&mut self, unit: &Unit) -> Result<(), Halt> {
        self.begin(unit.seed);
        let form = self.with_fault(unit.place, &unit.reached, unit.choice)?;
        let faults = self.run.question.faults;
        self.count(unit.after, faults, &form);
        Ok(())
    }

    /// Counts plans by the state after which their next fault strikes.
    fn count(&mut self, after: Option<State>, faults: u8, form: &Form) {
        match after {
            None => self.level.tally.whole.add(form),
            Some(state) => {
                let resting = (self.seed, state);
                self.level.tally.add_past(resting, faults, form);
            }
        }
    }

    /// Visits the plan with one more fault, then takes the fault off again.
    fn with_fault(&mut self, place: u32, at: &Reached, choice: Choice) -> Result<Form, Halt> {
        let (kind, magnitude_ms) = choice;
        let fault = Fault {
            site: at.site,
            kind,
            magnitude_ms,
        };
        let question = self.run.question;
        let outside_next = question
            .next_space
            .is_some_and(|next| !next.offers(at, choice));
        let outside_merging = question
            .merging
            .and_then(|merging| merging.proposes)
            .is_some_and(|space| !space.offers(at, choice));
        self.plan.faults.push(fault);
        self.places.push(place);
        self.bytes.push(&fault);
        self.outside_next += u32::from(outside_next);
        self.outside_merging += u32::from(outside_merging);
        let form = self.visit()?;
        self.outside_merging -= u32::from(outside_merging);
        self.outside_next -= u32::from(outside_next);
        self.bytes.pop();
        self.places.pop();
        self.plan.faults.pop();
        Ok(form)
    }

    /// Executes the plan; adds it to the level, or goes on to all its extensions.
    fn visit(&mut self) -> Result<Form, Halt> {
        let left = usize::from(self.run.question.faults) - self.plan.faults.len();
        match left {
            0 => self.last(),
            1 => self.batch(),
            _ => self.prefix(),
        }
    }

    /// All plans that have this one and one fault more; of a level of empty plans the empty plan.
    fn batch(&mut self) -> Result<Form, Halt> {
        let question = self.run.question;
        let (name, batch) = (question.name(), self.bytes.hash());
        if question.share.is_some_and(|share| !share.takes(batch)) {
            return Ok(Form::default());
        }
        let finished = question
            .journal
            .and_then(|known| known.finished(name, batch));
        if let Some(part) = finished {
            self.take(part.level);
            return Ok(part.whole);
        }
        let before = std::mem::replace(&mut self.level, Level::of(question.faults));
        let walked = match question.faults {
            0 => self.last(),
            _ => self.prefix(),
        };
        let walked = walked.and_then(|whole| {
            let again = self.level.samples.repeat(self.run.tree.execute)?;
            self.level.repeated += again;
            self.level.executions += again;
            Ok(whole)
        });
        let level = std::mem::replace(&mut self.level, before);
        let whole = match walked {
            Ok(whole) => whole,
            Err(halt) => {
                self.take(level);
                return Err(halt);
            }
        };
        let part = Part { level, whole };
        if let Some(journal) = question.journal {
            journal.finish(name, batch, &part);
        }
        self.take(part.level);
        Ok(part.whole)
    }

    fn take(&mut self, part: Level) {
        let level = std::mem::take(&mut self.level);
        self.level = level.merge(part);
    }

    /// Goes on to all extensions of the plan that are its own.
    fn prefix(&mut self) -> Result<Form, Halt> {
        self.may_go_on()?;
        let faults = self.run.question.faults;
        let left = faults.saturating_sub(u8::try_from(self.plan.faults.len()).unwrap_or(faults));
        let outcome = self.run.perform(self.seed, &self.plan, self.bytes.hash())?;
        self.level.executions += 1;
        let later = self.later_than_last_fault(&outcome.sites);
        let rests = Rests::of(&outcome);
        let mut own = Form::default();
        for (place, choice) in self.next_faults(&outcome.sites, later) {
            let Some(at) = outcome.sites.get(place as usize) else {
                continue;
            };
            let form = self.with_fault(place, at, choice)?;
            match rests.before(place) {
                None => own.add(&form),
                after => self.count(after, left, &form),
            }
        }
        if let Some(first) = rests.first() {
            own.add_past((self.seed, first), left);
        }
        Ok(own)
    }

    /// The faults by which a plan is extended, in the order in which they are tried. A level that
    /// merges ends at its first failure, which comes soonest where the likely kinds are first; what
    /// is reported does not depend on it.
    fn next_faults(&self, sites: &[Reached], later: usize) -> Vec<(u32, Choice)> {
        let question = self.run.question;
        let places = (0..).zip(sites).skip(later);
        let faults = places.flat_map(|(place, at)| {
            let choices = question.space.at(at).iter();
            choices.map(move |choice| (place, *choice))
        });
        let mut faults: Vec<(u32, Choice)> = faults.collect();
        if question.merging.is_some() {
            faults.sort_by_key(|(_, (kind, _))| likelihood(*kind));
        }
        faults
    }

    fn may_go_on(&self) -> Result<(), Halt> {
        match self.run.tree.control.cut() {
            Some(cut) => Err(Halt::Cut(cut)),
            None => Ok(()),
        }
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

    /// A plan of the level: executes it, to its end or to a state that is known.
    fn last(&mut self) -> Result<Form, Halt> {
        self.may_go_on()?;
        let (execute, seed) = (self.run.tree.execute, self.seed);
        let merging = self.run.question.merging;
        let outcome = match merging {
            None => perform(execute, seed, &self.plan),
            Some(merging) => perform_until(execute, seed, &self.plan, &|state| {
                merging.known.verdict((seed, state)).is_some()
            }),
        }
        .map_err(|source| ExploreError::at(seed, &self.plan, source))?;
        self.level.executions += 1;
        if merging.is_some() && !outcome.cut && outcome.judgement.failure {
            return Err(Halt::Broken);
        }
        self.add(&outcome);
        Ok(Form::one())
    }

    fn add(&mut self, outcome: &Outcome) {
        let question = self.run.question;
        let cut = self.cut_of(outcome);
        let rank = Rank {
            places: &self.places,
            faults: &self.plan.faults,
            seed: self.seed,
        };
        match cut {
            Some((_, verdict)) => self.level.add_cut(&rank, verdict),
            None => {
                let wanted = (question.wanted)(&self.plan, &outcome.judgement);
                self.level.add(&rank, outcome, wanted);
            }
        }
        self.propose(
            outcome,
            cut.map_or(outcome.judgement.verdict, |(_, verdict)| verdict),
        );
        let (hash, seed, plan) = (self.bytes.hash(), self.seed, &self.plan);
        self.level.samples.offer(hash, || Repeat {
            hash,
            seed,
            plan: plan.clone(),
            first: outcome.trace_hash,
            cut,
        });
        let digest = self.bytes.digest(outcome.trace_hash);
        self.level.digest.merge(digest);
        let later = self.later_than_last_fault(&outcome.sites);
        self.level.places.add(&outcome.sites[later..]);
        if let (Some(next), 0) = (question.next_space, self.outside_next) {
            self.level.next_plans += next.count(&outcome.sites[later..]);
        }
        self.run.tree.control.count_plan();
    }

    /// Where an execution was cut, and what it comes to from there.
    fn cut_of(&self, outcome: &Outcome) -> Option<(State, Verdict)> {
        let merging = self.run.question.merging.filter(|_| outcome.cut)?;
        let state = outcome.rest_points.last()?.state;
        Some((state, merging.known.verdict((self.seed, state))?))
    }

    /// The plan may be the first of its level in the states in which it has rested, the one apart at
    /// which it was cut.
    fn propose(&mut self, outcome: &Outcome, verdict: Verdict) {
        let merging = self.run.question.merging;
        let wanted = merging.is_some_and(|merging| merging.proposes.is_some());
        if !wanted || self.outside_merging > 0 {
            return;
        }
        let rank = Rank {
            places: &self.places,
            faults: &self.plan.faults,
            seed: self.seed,
        };
        let rests = &outcome.rest_points;
        let new = rests.len() - usize::from(outcome.cut);
        for (place, rest) in rests.iter().take(new).enumerate() {
            let next = rests.get(place + 1).map(|next| next.state);
            let proposal = Proposal::of(self.bytes.hash(), verdict, next, &rank);
            let resting = (self.seed, rest.state);
            propose(&mut self.level.proposals, resting, proposal);
        }
    }
}
