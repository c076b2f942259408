//! How far a check looks: what was typed, else what the scenario says, else the default.

use explore::{DEFAULT_BOUNDS, Doubt};
use scenarios::Scenario;
use scenarios::file::{MOST_EXPLORED, Seeds};
use scenarios::spec::Space;

/// Up to which number of faults a space is explored.
pub type Depth = (Space, u8);

/// Reads `--faults`.
pub fn faults(text: &str) -> Result<u8, String> {
    let refused = || format!("allowed are 0 to {MOST_EXPLORED} faults at once");
    let faults = text.parse().map_err(|_| refused())?;
    match faults <= MOST_EXPLORED {
        true => Ok(faults),
        false => Err(refused()),
    }
}

/// The bounds of a check of this scenario.
///
/// - `faults` without a space means space core; a space without `faults` goes as deep as the
///   default does in it.
/// - By default both: core to 2 and full to 1; core deeper where the scenario speaks of more
///   faults, so that what it says can be told true or false.
pub fn of(scenario: &Scenario, space: Option<Space>, faults: Option<u8>) -> Vec<Depth> {
    let typed = space.is_some() || faults.is_some();
    let (space, faults) = match typed {
        true => (space, faults),
        false => (scenario.explore.space, scenario.explore.faults),
    };
    match (space, faults) {
        (None, None) => default(scenario),
        (None, Some(faults)) => vec![(Space::Core, faults)],
        (Some(space), Some(faults)) => vec![(space, faults)],
        (Some(space), None) => vec![(space, default_depth(space))],
    }
}

/// Why a failure of `missing` faults may exist although none was found: the command line explores
/// less of that level than the scenario declares.
pub fn narrower(scenario: &Scenario, depths: &[Depth], seeds: Seeds, missing: u8) -> Option<Doubt> {
    let declared = of(scenario, None, None);
    // Each space lies inside the next.
    let covered = |(space, faults): &Depth| {
        *faults < missing
            || depths
                .iter()
                .any(|(wider, deeper)| wider >= space && *deeper >= missing)
    };
    if !declared.iter().all(covered) {
        return Some(Doubt::ExploredLess {
            explored: in_words(depths),
            declared: in_words(&declared),
        });
    }
    let all = scenario.explore.seeds;
    let every_seed = seeds.first <= all.first && all.last <= seeds.last;
    (!every_seed).then(|| Doubt::ExploredLess {
        explored: format!("seeds {seeds}"),
        declared: format!("seeds {all}"),
    })
}

/// `core to 2 and full to 1`.
fn in_words(depths: &[Depth]) -> String {
    let each = depths.iter();
    let each: Vec<String> = each
        .map(|(space, faults)| format!("{} to {faults}", space.name()))
        .collect();
    each.join(" and ")
}

fn default(scenario: &Scenario) -> Vec<Depth> {
    let expect = scenario.expect.clone().unwrap_or_default();
    let spoken_of = expect.faults_needed.max(expect.faults).unwrap_or(0);
    let mut bounds = DEFAULT_BOUNDS.to_vec();
    for (space, faults) in &mut bounds {
        if *space == Space::Core {
            *faults = spoken_of.max(*faults);
        }
    }
    bounds
}

fn default_depth(space: Space) -> u8 {
    let named = DEFAULT_BOUNDS.iter().find(|(named, _)| *named == space);
    named.map_or(1, |(_, faults)| *faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_comes_before_what_the_scenario_says() {
        let mut scenario = Scenario::default();
        assert_eq!(
            of(&scenario, None, None),
            [(Space::Core, 2), (Space::Full, 1)]
        );
        scenario.explore.faults = Some(4);
        assert_eq!(of(&scenario, None, None), [(Space::Core, 4)]);
        assert_eq!(of(&scenario, None, Some(3)), [(Space::Core, 3)]);
        assert_eq!(of(&scenario, Some(Space::Full), None), [(Space::Full, 1)]);
        assert_eq!(
            of(&scenario, Some(Space::Full), Some(2)),
            [(Space::Full, 2)]
        );
    }

    #[test]
    fn only_what_leaves_out_plans_of_the_missing_level_is_narrower() {
        let scenario = Scenario::default();
        let all = scenario.explore.seeds;
        let doubt = |explored: &str, declared: &str| {
            Some(Doubt::ExploredLess {
                explored: explored.to_owned(),
                declared: declared.to_owned(),
            })
        };
        let narrower =
            |depths: &[Depth], seeds, missing| narrower(&scenario, depths, seeds, missing);
        assert_eq!(narrower(&of(&scenario, None, None), all, 1), None);
        assert_eq!(narrower(&[(Space::Full, 1)], all, 1), None);
        assert_eq!(narrower(&[(Space::Core, 2)], all, 2), None);
        assert_eq!(
            narrower(&[(Space::Core, 2)], all, 1),
            doubt("core to 2", "core to 2 and full to 1")
        );
        let few = Seeds { first: 2, last: 16 };
        assert_eq!(
            narrower(&[(Space::Full, 1)], few, 1),
            doubt("seeds 2..16", "seeds 1..16")
        );
    }

    #[test]
    fn a_scenario_that_speaks_of_three_faults_is_explored_to_three() {
        let mut scenario = Scenario::default();
        let expect = scenario.expect.insert(Default::default());
        expect.faults_needed = Some(3);
        assert_eq!(
            of(&scenario, None, None),
            [(Space::Core, 3), (Space::Full, 1)]
        );
    }
}
