//! What would have stopped a counterexample: the changes of the list, tried one by one.

use super::bounds::Depth;
use clap::ValueEnum;
use explore::{
    Bound, Candidate, Choices, Control, Counterexample, ExploreError, MOST_PLANS, Reach, Survival,
};
use runkey::report::Survivors;
use scenarios::Scenario;
use scenarios::cures::{Cured, cures_of};
use scenarios::file::Seeds;
use scenarios::spec::Bounds;
use sim::{Parts, Setup};

/// So many changes that survive every plan are enough to choose from.
const ENOUGH: usize = 3;

/// How far changes are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HowFar {
    /// Not at all.
    Off,
    /// Against the counterexample alone.
    Plan,
    /// Those that survive it: against every plan within the bounds, under its seed.
    Seed,
    /// The same under every seed.
    Space,
}

/// How far to try, and what bounds the check has.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// How far.
    pub how_far: HowFar,
    /// The spaces of the check, each to its number of faults.
    pub depths: &'a [Depth],
    /// The seeds of the check.
    pub seeds: Seeds,
    /// Progress and early end.
    pub control: &'a Control,
}

impl Trial<'_> {
    /// Tries every change that fits the scenario; `None` where that is not asked, or where the
    /// example is no failure.
    pub fn survivors(
        &self,
        scenario: &Scenario,
        example: &Counterexample,
    ) -> Result<Option<Survivors>, ExploreError> {
        if self.how_far == HowFar::Off || !example.judgement.failure {
            return Ok(None);
        }
        let changed: Vec<Changed> = (cures_of(scenario).into_iter())
            .filter_map(|cured| Changed::of(cured, self.depths))
            .collect();
        let survivals = self.survivals(scenario, example, &changed)?;
        Ok(Some(Survivors {
            tried: (changed.into_iter().map(|changed| changed.cured))
                .zip(survivals)
                .collect(),
        }))
    }

    fn survivals(
        &self,
        scenario: &Scenario,
        example: &Counterexample,
        changed: &[Changed],
    ) -> Result<Vec<Survival>, ExploreError> {
        let bounds: Vec<Vec<Bound<'_>>> = changed.iter().map(Changed::bounds).collect();
        let extends: Vec<Vec<usize>> = (changed.iter())
            .map(|one| {
                let smaller = changed.iter().enumerate();
                let smaller = smaller.filter(|(_, other)| one.cured.extends(&other.cured));
                smaller.map(|(place, _)| place).collect()
            })
            .collect();
        let candidates: Vec<Candidate<'_>> = (changed.iter().zip(&bounds).zip(&extends))
            .map(|((changed, bounds), extends)| Candidate {
                execute: &changed.setup,
                bounds,
                extends,
            })
            .collect();
        let seeds = match self.how_far {
            HowFar::Space => self.seeds.iter(),
            HowFar::Off | HowFar::Plan | HowFar::Seed => example.seed..=example.seed,
        };
        let reach = Reach {
            seeds: &seeds,
            most_plans: match self.how_far {
                HowFar::Space => u64::MAX,
                HowFar::Off | HowFar::Plan | HowFar::Seed => MOST_PLANS,
            },
        };
        // A scenario that states its plan is only asked about that one.
        let explores = self.how_far != HowFar::Plan && scenario.faults.is_empty();
        explore::survivors(
            &explore::Survivors {
                plan: &example.plan,
                seed: example.seed,
                reach: explores.then_some(reach),
                enough: ENOUGH,
                control: self.control,
            },
            &candidates,
        )
    }
}

/// A changed scenario made ready.
struct Changed {
    cured: Cured,
    setup: Setup,
    /// Each space, to its number of faults.
    spaces: Vec<(Bounds, u8)>,
}

impl Changed {
    /// `None` where it cannot be simulated.
    fn of(cured: Cured, depths: &[Depth]) -> Option<Self> {
        let spaces = depths.iter();
        let spaces = spaces.map(|(space, up_to)| (Bounds::new(&cured.scenario, *space), *up_to));
        Some(Changed {
            setup: Setup::new(&cured.scenario, Parts::default()).ok()?,
            spaces: spaces.collect(),
            cured,
        })
    }

    fn bounds(&self) -> Vec<Bound<'_>> {
        let spaces = self.spaces.iter();
        spaces
            .map(|(choices, up_to)| Bound {
                space: choices.space(),
                up_to: *up_to,
                choices: choices as &dyn Choices,
            })
            .collect()
    }
}
