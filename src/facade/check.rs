//! The builder: what is checked, with which parts, how far.

use super::report::Found;
use super::{
    Asked, Error, Named, Report, Source, Story, asked, hush_executions, tell_past_the_harness,
};
use crate::report::OwnParts;
use evidence::{Promise, Verdict};
use explore::{Bound, Checked, Choices, Control, DEFAULT_BOUNDS, Expectation, Failure, Met};
use scenarios::Scenario;
use scenarios::file::{ExpectTable, ExpectedVerdict};
use scenarios::spec::{Bounds, Space};
use scheduler::Instance;
use scheduler::guards::Guard;
use scheduler::handler::Handler;
use sim::{Outside, Parts, Setup};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// The seeds of a check that says nothing else: message timings of four kinds.
const SEEDS: RangeInclusive<u64> = 1..=4;

/// A check of a scenario: say which parts are your own and how far to look, then assert.
///
/// Own parts take their time, sleep, randomness and tasks from [`Ctx`](crate::Ctx) or from the
/// ports of the [`Instance`]. They replace what the scenario says of the same part; what it says
/// *about* the part stays: from `[guard]` the deadlines that faults are measured against, `busy` and
/// `on_lost`.
#[must_use = "nothing is checked until it is asserted or explored"]
pub struct Check {
    source: Source,
    parts: Parts,
    faults: Option<u8>,
    space: Option<Space>,
    seeds: RangeInclusive<u64>,
    named: Option<String>,
    cut_after: Duration,
}

/// Checks a scenario: a name of the catalogue, a path, or a [`Scenario`]; see [`Source`].
pub fn check(source: impl Into<Source>) -> Check {
    Check {
        source: source.into(),
        parts: Parts::default(),
        faults: None,
        space: None,
        seeds: SEEDS,
        named: None,
        cut_after: sim::WATCHDOG,
    }
}

/// Checks a scenario that is written out, in TOML.
pub fn check_toml(text: &str) -> Check {
    check(Source::text(text))
}

impl Check {
    /// Puts a guard of your own in place of the scenario's. Called once for each incarnation of
    /// each instance: nothing in memory survives a crash.
    pub fn guard<G: Guard + 'static>(
        mut self,
        make: impl Fn(&Instance) -> G + Send + Sync + 'static,
    ) -> Self {
        self.parts.guard = Some(Arc::new(move |instance| Box::new(make(instance))));
        self
    }

    /// Puts a handler of your own in place of the scenario's. Called as for [`Check::guard`].
    pub fn handler<H: Handler + 'static>(
        mut self,
        make: impl Fn(&Instance) -> H + Send + Sync + 'static,
    ) -> Self {
        self.parts.handler = Some(Arc::new(move |instance| Box::new(make(instance))));
        self
    }

    /// Puts an outside world of your own in place of the scenario's. Called once an execution.
    pub fn downstream<O: Outside + 'static>(
        mut self,
        make: impl Fn() -> O + Send + Sync + 'static,
    ) -> Self {
        self.parts.downstream = Some(Arc::new(move || Box::new(make())));
        self
    }

    /// How many faults at once, at most. Default: what the scenario says, else 2 in space core and 1
    /// in space full. Without [`Check::space`] it means space core.
    pub fn faults(mut self, faults: u8) -> Self {
        self.faults = Some(faults);
        self
    }

    /// Which faults. Without [`Check::faults`] as deep as the default.
    pub fn space(mut self, space: Space) -> Self {
        self.space = Some(space);
        self
    }

    /// Under which message timings, both ends included. Default 1..=4.
    pub fn seeds(mut self, seeds: RangeInclusive<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Names the check in tokens. Default: the running test, as cargo's harness names its thread;
    /// needed where the check runs on a thread of its own.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.named = Some(name.into());
        self
    }

    /// How long one execution may take in real time until it counts as blocked. Default 10 s; one
    /// takes less than a millisecond.
    pub fn cut_after(mut self, limit: Duration) -> Self {
        self.cut_after = limit;
        self
    }

    /// Asserts that under every plan within the bounds each slot has exactly one effect, recorded as
    /// done.
    ///
    /// # Panics
    ///
    /// If it has not; with the smallest plan, its timeline, the reason, and a line that replays it.
    /// If the check cannot be made.
    #[track_caller]
    pub fn assert_exactly_once(self) -> Report {
        let expected = ExpectedVerdict::Is(Verdict::ExactlyOnce);
        self.assert(Some(Promise::ExactlyOnce), expected)
    }

    /// Asserts that no slot is ever lost, stuck or given up; duplicates are allowed.
    ///
    /// # Panics
    ///
    /// As [`Check::assert_exactly_once`].
    #[track_caller]
    pub fn assert_at_least_once(self) -> Report {
        self.assert(Some(Promise::AtLeastOnce), ExpectedVerdict::Holds)
    }

    /// Asserts that no slot ever has two effects; losses are allowed.
    ///
    /// # Panics
    ///
    /// As [`Check::assert_exactly_once`].
    #[track_caller]
    pub fn assert_at_most_once(self) -> Report {
        self.assert(Some(Promise::AtMostOnce), ExpectedVerdict::Holds)
    }

    /// Asserts what comes of it at worst: that the smallest plans that break the scenario's promise
    /// give this verdict (others of them may give another); [`Verdict::ExactlyOnce`]: that none
    /// breaks it.
    ///
    /// # Panics
    ///
    /// As [`Check::assert_exactly_once`].
    #[track_caller]
    pub fn assert_verdict(self, verdict: Verdict) -> Report {
        self.assert(None, ExpectedVerdict::Is(verdict))
    }

    /// Explores until the promise of the scenario breaks, or the bounds are exhausted.
    ///
    /// # Errors
    ///
    /// If the check cannot be made; see [`Error`]. That the promise breaks is no error.
    pub fn explore(self) -> Result<Report, Error> {
        self.run(None, ExpectedVerdict::Holds)
    }

    #[track_caller]
    fn assert(self, promise: Option<Promise>, expected: ExpectedVerdict) -> Report {
        match self.run(promise, expected) {
            Ok(report) => {
                settle(&report, expected);
                report
            }
            Err(error) => panic!("runkey: {error}"),
        }
    }

    fn run(self, promise: Option<Promise>, expected: ExpectedVerdict) -> Result<Report, Error> {
        let named = match &self.named {
            Some(name) => Named::by_hand(name.clone()),
            None => Named::by_test(),
        };
        let mut scenario = self.source.0?;
        scenario.judge.promise = promise.unwrap_or(scenario.judge.promise);
        scenario.expect = Some(ExpectTable {
            verdict: expected,
            ..ExpectTable::default()
        });
        let own = OwnParts {
            guard: self.parts.guard.is_some(),
            handler: self.parts.handler.is_some(),
            downstream: self.parts.downstream.is_some(),
        };
        hush_executions();
        let setup = Setup::new(&scenario, self.parts)?.cut_after(self.cut_after);
        let found = match asked(&named, &scenario)? {
            Asked::Check => {
                let depths = depths(&scenario, self.space, self.faults);
                let checked = explore(&setup, &self.seeds, &depths, &expectation(expected))?;
                let shown = checked.counterexample.as_ref();
                let story = shown.map(|shown| {
                    Story::of(&setup, &named, shown.seed, &shown.plan).map_err(Error::Execute)
                });
                Found::Explored(Box::new(checked), story.transpose()?)
            }
            Asked::Replay(token) => Found::Replayed(Story::replayed(&setup, &named, &token)?),
            Asked::Nothing => Found::PassedOver,
        };
        Ok(Report {
            scenario,
            own,
            found,
        })
    }
}

/// Panics unless what was found is what was expected.
#[track_caller]
fn settle(report: &Report, expected: ExpectedVerdict) {
    match &report.found {
        Found::Explored(checked, _) => {
            let why = match &checked.met {
                Met::Yes => return,
                Met::No(unmet) => unmet.to_string(),
                Met::Inconclusive(doubt) => format!("not known: {doubt}"),
            };
            panic!("runkey: {}: {why}\n\n{report}", expected.name());
        }
        Found::Replayed(story) => {
            let judgement = story.judgement();
            let still = match expected {
                _ if expected.is_sound() => judgement.failure,
                ExpectedVerdict::Is(verdict) => judgement.verdict == verdict,
                ExpectedVerdict::Holds => judgement.failure,
            };
            match (still, expected.is_sound()) {
                (true, true) => panic!("runkey: replayed\n\n{report}"),
                (true, false) => tell_past_the_harness(&format!("\n{report}")),
                (false, true) => tell_past_the_harness(&format!(
                    "\n{report}\nThis plan keeps the promise: the code has changed since the token \
                     was printed.\n"
                )),
                (false, false) => panic!(
                    "runkey: replayed, and it is not {} any more: the code has changed since the \
                     token was printed\n\n{report}",
                    expected.name()
                ),
            }
        }
        Found::PassedOver => {}
    }
}

/// What is looked for.
fn expectation(expected: ExpectedVerdict) -> Expectation {
    match expected {
        ExpectedVerdict::Is(verdict) if verdict != Verdict::ExactlyOnce => {
            Expectation::Breaks(Failure {
                verdict,
                layer: None,
                effects: None,
                by: Vec::new(),
                faults_needed: None,
                also: OTHERS.to_vec(),
            })
        }
        _ => Expectation::Holds { faults: None },
    }
}

/// Whatever else the plans of that level come to.
const OTHERS: [Verdict; 12] = [
    Verdict::Duplicate,
    Verdict::Phantom,
    Verdict::Lost,
    Verdict::Stuck,
    Verdict::Misrecorded,
    Verdict::GaveUp,
    Verdict::NoProgress,
    Verdict::Unfinished,
    Verdict::StaleEffect,
    Verdict::Overlap,
    Verdict::Early,
    Verdict::Late,
];

/// How far to look: what the check says, else the scenario, else the default.
fn depths(scenario: &Scenario, space: Option<Space>, faults: Option<u8>) -> Vec<(Space, u8)> {
    let (space, faults) = match space.is_some() || faults.is_some() {
        true => (space, faults),
        false => (scenario.explore.space, scenario.explore.faults),
    };
    let default = |space| {
        let known = DEFAULT_BOUNDS.iter().find(|(known, _)| *known == space);
        known.map_or(1, |(_, faults)| *faults)
    };
    match (space, faults) {
        (None, None) => DEFAULT_BOUNDS.to_vec(),
        (None, Some(faults)) => vec![(Space::Core, faults)],
        (Some(space), faults) => vec![(space, faults.unwrap_or_else(|| default(space)))],
    }
}

/// Every plan within the bounds; or, where the scenario states a plan, that one.
fn explore(
    setup: &Setup,
    seeds: &RangeInclusive<u64>,
    depths: &[(Space, u8)],
    expectation: &Expectation,
) -> Result<Checked, Error> {
    let (scenario, control) = (setup.scenario(), &Control::new());
    if !scenario.faults.is_empty() {
        let stated = scenario.faults.iter().map(|fault| fault.spec(scenario));
        let stated: Result<Vec<_>, _> = stated.collect();
        let faults =
            stated.map_err(|wrong| Error::Fault(format!("{}: {}", wrong.key, wrong.message)))?;
        let plan_of = |seed| explore::find_plan(setup, seed, &faults);
        return Ok(explore::check_plan(
            setup,
            seeds,
            &plan_of,
            expectation,
            control,
        )?);
    }
    let choices: Vec<Bounds> = depths
        .iter()
        .map(|(space, _)| Bounds::new(scenario, *space))
        .collect();
    let bounds: Vec<Bound<'_>> = depths
        .iter()
        .zip(&choices)
        .map(|((space, up_to), choices)| Bound {
            space: *space,
            up_to: *up_to,
            choices: choices as &dyn Choices,
        })
        .collect();
    Ok(explore::check(&explore::Check {
        execute: setup,
        seeds,
        bounds: &bounds,
        expectation,
        all_plans: false,
        show_next_up_to: 0,
        walking: explore::Walking::default(),
        control,
    })?)
}
