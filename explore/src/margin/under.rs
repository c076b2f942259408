//! What goes wrong while a setting or a condition is varied: what the scenario itself says.

use super::{Answer, Asked, MarginError, answer, level, space};
use crate::cell::parse;
use crate::{
    Bound, Check, Choices, Execute, Expectation, ExploreError, Table, check, check_plan, find_plan,
};
use scenarios::Scenario;
use scenarios::file::ExpectTable;
use scenarios::spec::{Bounds, Cell, FaultSpec, Plan, Space};
use std::fmt;

/// What goes wrong while a setting is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Under {
    /// Nothing, or (of a kind of fault) nothing besides: of a scenario that is broken without any
    /// fault, or holds only as long as there is none.
    NoFault,
    /// Every plan of faults of these kinds at these steps, and none: of a scenario that is broken
    /// at some number of faults, what its smallest counterexample is made of.
    Story(Vec<Cell>),
    /// Every single fault of `core`, and none.
    EverySingleFault,
    /// The plan that the scenario states, and the empty one.
    Stated,
}

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Under::NoFault => f.write_str("no fault"),
            Under::EverySingleFault => write!(f, "every single fault of {}", Space::Core),
            Under::Stated => f.write_str("the plan stated"),
            Under::Story(cells) => {
                let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
                f.write_str(&cells.join(", "))
            }
        }
    }
}

/// The plans that a scenario with a changed setting is judged by.
pub(super) enum Plans {
    /// Level by level, from none; the first that fails is the answer.
    Levels(Vec<Table>),
    /// As a person wrote them.
    Stated(Vec<FaultSpec>),
}

/// What a scenario says goes wrong, and the plans of it.
pub(super) fn of(asked: &Asked<'_>) -> Result<(Under, Plans), MarginError> {
    let scenario = asked.scenario;
    if !scenario.faults.is_empty() {
        let specs = scenario.faults.iter().map(|fault| fault.spec(scenario));
        // A scenario that was read has no fault that does not resolve.
        return Ok((Under::Stated, Plans::Stated(specs.flatten().collect())));
    }
    let expect = scenario.expect.clone().unwrap_or_default();
    let under = match expect.faults_needed {
        _ if expect.verdict.is_sound() && expect.faults == Some(0) => Under::NoFault,
        _ if expect.verdict.is_sound() => Under::EverySingleFault,
        None => Under::EverySingleFault,
        Some(0) => Under::NoFault,
        Some(needed) => match story(asked, &expect, needed)? {
            Some(cells) => Under::Story(cells),
            None => Under::EverySingleFault,
        },
    };
    let levels = levels(scenario, &under);
    Ok((under, Plans::Levels(levels)))
}

fn levels(scenario: &Scenario, under: &Under) -> Vec<Table> {
    let mut levels = vec![space::nothing()];
    match under {
        Under::NoFault | Under::Stated => {}
        Under::EverySingleFault => {
            let core = Bounds::new(scenario, Space::Core);
            levels.push(Table::of(&[&core]));
        }
        Under::Story(cells) => {
            let table = space::of_cells(scenario, cells);
            levels.extend(std::iter::repeat_n(table, cells.len()));
        }
    }
    levels
}

/// The kinds and steps of the smallest counterexample: as the scenario tells them, else as a check
/// finds them.
fn story(
    asked: &Asked<'_>,
    expect: &ExpectTable,
    needed: u8,
) -> Result<Option<Vec<Cell>>, MarginError> {
    let told: Vec<Cell> = expect.by.iter().filter_map(|text| parse(text)).collect();
    if told.len() == usize::from(needed) {
        return Ok(Some(told));
    }
    let Ok(expectation) = Expectation::of(expect) else {
        return Ok(None);
    };
    let spaces = [(Space::Core, needed), (Space::Full, 1)];
    let choices = spaces.map(|(space, _)| Bounds::new(asked.scenario, space));
    let bounds: Vec<Bound<'_>> = spaces
        .into_iter()
        .zip(&choices)
        .map(|((space, up_to), choices)| Bound {
            space,
            up_to,
            choices: choices as &dyn Choices,
        })
        .collect();
    let execute = (asked.ready)(asked.scenario)?;
    let checked = check(&Check {
        execute: &*execute,
        seeds: asked.seeds,
        bounds: &bounds,
        expectation: &expectation,
        all_plans: false,
        show_next_up_to: 0,
        walking: crate::Walking::default(),
        control: asked.control,
    })?;
    if let Some(cut) = checked.levels.iter().find_map(|level| level.cut) {
        return Err(MarginError::Cut(cut));
    }
    let example = checked.counterexample.as_ref();
    let cells = example.map(|example| example.cells().collect());
    Ok(cells.filter(|cells: &Vec<Cell>| !cells.is_empty()))
}

impl Plans {
    /// What comes of them; counts what ran.
    pub(super) fn judge(
        &self,
        asked: &Asked<'_>,
        execute: &dyn Execute,
        plans: &mut u64,
    ) -> Result<Answer, MarginError> {
        let levels = match self {
            Plans::Stated(specs) => {
                let plan_of = |seed| as_far_as_reached(execute, seed, specs);
                let holds = Expectation::Holds { faults: None };
                check_plan(execute, asked.seeds, &plan_of, &holds, asked.control)?.levels
            }
            Plans::Levels(spaces) => {
                let mut levels = Vec::new();
                for (faults, space) in (0..).zip(spaces) {
                    let level = level(asked, execute, faults, space)?;
                    let ends = level.failing > 0;
                    levels.push(level);
                    if ends {
                        break;
                    }
                }
                levels
            }
        };
        if let Some(cut) = levels.iter().find_map(|level| level.cut) {
            return Err(MarginError::Cut(cut));
        }
        *plans += levels.iter().map(|level| level.plans).sum::<u64>();
        let answers = levels.iter().map(answer);
        let worst = answers.reduce(Answer::or_worse);
        Ok(worst.unwrap_or_else(Answer::nothing_ran))
    }
}

/// The plan without the faults whose sites are no longer reached with the changed setting.
fn as_far_as_reached(
    execute: &dyn Execute,
    seed: u64,
    specs: &[FaultSpec],
) -> Result<Plan, ExploreError> {
    let mut reached = Vec::new();
    for spec in specs {
        reached.push(*spec);
        match find_plan(execute, seed, &reached) {
            Err(ExploreError::NotFound { .. }) => {
                reached.pop();
            }
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    find_plan(execute, seed, &reached)
}
