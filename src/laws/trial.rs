//! A law tried on a guard: its set-up explored, plan by plan.

use super::law::{Broken, Law};
use super::witness::Witness;
use crate::facade::{Asked, Error, Named, Story, asked};
use crate::report::{OwnParts, Verb};
use evidence::Layer;
use explore::{Bound, Choices, Control, Execute, ExecuteError, Expectation, Outcome, cell_of};
use scenarios::Scenario;
use scenarios::spec::{Bounds, FaultKind, Phase, Plan, Space};
use scheduler::steps;
use scheduler::topologies::{GuardFactory, HandlerFactory};
use sim::{Parts, Setup};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The message timings under which a law is tried: fewer where many plans are.
const fn seeds(faults: u8) -> RangeInclusive<u64> {
    match faults {
        0 | 1 => 1..=4,
        _ => 1..=2,
    }
}

/// A law and a guard.
pub(super) struct Trial {
    law: &'static Law,
    /// The guard as it is.
    plain: Setup,
    /// The guard under observation.
    witnessed: Setup,
}

impl Trial {
    pub fn of(law: &'static Law, make: &Arc<GuardFactory>) -> Result<Self, Error> {
        let scenario = Scenario::parse(law.scenario, law.name)?;
        let handler = law
            .handler
            .map(|make| -> Arc<HandlerFactory> { Arc::new(move |_| make()) });
        let with = |guard: Arc<GuardFactory>| {
            let parts = Parts {
                guard: Some(guard),
                handler: handler.clone(),
                downstream: None,
            };
            Setup::new(&scenario, parts)
        };
        let observed = make.clone();
        Ok(Trial {
            law,
            plain: with(make.clone())?,
            witnessed: with(Arc::new(move |instance| {
                Box::new(Witness::of(observed(instance), instance))
            }))?,
        })
    }

    /// Tries the law; or runs the plan of the token that the environment names.
    pub fn run(&self, named: &Named) -> Result<Option<Broken>, Error> {
        match asked(named, self.plain.scenario())? {
            Asked::Check => self.explore(named),
            Asked::Replay(token) => self.broken(named, token.seed, &token.plan),
            Asked::Nothing => Ok(None),
        }
    }

    fn explore(&self, named: &Named) -> Result<Option<Broken>, Error> {
        let choices = Kinds::of(self.plain.scenario(), self.law.kinds);
        let checked = explore::check(&explore::Check {
            execute: self,
            seeds: &seeds(self.law.faults),
            bounds: &[Bound {
                space: Space::Core,
                up_to: self.law.faults,
                choices: &choices,
            }],
            expectation: &Expectation::Holds { faults: None },
            all_plans: false,
            show_next_up_to: 0,
            walking: explore::Walking::default(),
            control: &Control::new(),
        })?;
        match checked.counterexample {
            Some(shown) => self.broken(named, shown.seed, &shown.plan),
            None => Ok(None),
        }
    }

    /// What a plan breaks, told.
    fn broken(&self, named: &Named, seed: u64, plan: &Plan) -> Result<Option<Broken>, Error> {
        let observed = Story::of(&self.witnessed, named, seed, plan).map_err(Error::Execute)?;
        let history = &observed.outcome.history;
        let Some(breach) = (self.law.breach)(history) else {
            return Ok(None);
        };
        let sentence = breach.told(history);
        let story = Story::of(&self.plain, named, seed, plan).map_err(Error::Execute)?;
        let own = OwnParts {
            guard: true,
            ..OwnParts::default()
        };
        Ok(Some(Broken {
            law: self.law,
            by: plan
                .faults
                .iter()
                .map(|fault| cell_of(fault).to_string())
                .collect(),
            sentence,
            story: story.text(self.plain.scenario(), own, Verb::Run),
            token: story.token,
        }))
    }
}

/// An execution fails if it breaks the law, whatever becomes of the run.
impl Execute for Trial {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        let mut outcome = Execute::execute(&self.witnessed, seed, plan)?;
        outcome.judgement.failure = (self.law.breach)(&outcome.history).is_some();
        Ok(outcome)
    }
}

/// The space core, of some kinds only, and only where a guard can be touched: from the delivery on.
struct Kinds(Vec<Vec<(FaultKind, i64)>>);

impl Kinds {
    fn of(scenario: &Scenario, kinds: &[FaultKind]) -> Self {
        let bounds = Bounds::new(scenario, Space::Core);
        let mut table = Vec::new();
        for step in 0..=u8::MAX {
            let kinds = if concerns_guards(step) { kinds } else { &[] };
            for phase in Phase::ALL {
                for replayable in [false, true] {
                    let all = bounds.faults_at(step, phase, replayable);
                    let some = all.iter().filter(|(kind, _)| kinds.contains(kind));
                    table.push(some.copied().collect());
                }
            }
        }
        Kinds(table)
    }
}

/// What happens before the delivery happens to the scheduler.
fn concerns_guards(step: u8) -> bool {
    steps::by_number(step).is_some_and(|step| {
        matches!(
            step.layer,
            Layer::Delivery | Layer::Execution | Layer::Effect
        )
    })
}

impl Choices for Kinds {
    fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[(FaultKind, i64)] {
        let place = usize::from(step) * Phase::ALL.len() * 2 + phase as usize * 2;
        &self.0[place + usize::from(replayable)]
    }
}
