//! What may go wrong at a site: the explorer's view of a bounded space of faults.

use crate::Reached;
use scenarios::spec::{Bounds, FaultKind, Phase};

/// A bounded space of faults.
pub trait Choices: Sync {
    /// The faults that apply at a phase of a step, as (kind, magnitude in milliseconds), ordered
    /// by kind number, then magnitude, without repetition.
    ///
    /// `replayable` tells whether a message of the site's run had been accepted by then.
    fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[(FaultKind, i64)];
}

impl Choices for Bounds {
    fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[Choice] {
        Bounds::faults_at(self, step, phase, replayable)
    }
}

/// One fault that a site offers: kind, and magnitude in milliseconds.
pub type Choice = (FaultKind, i64);

const PHASES: usize = Phase::ALL.len();
const PLACES: usize = 256 * PHASES * 2;

/// A space, or the union of several, written out so that a look-up is one index.
///
/// ```
/// use runkey_explore::{Choices, Table};
/// use scenarios::spec::{Bounds, FaultKind, Phase};
///
/// struct LosesRequests;
/// impl Choices for LosesRequests {
///     fn faults_at(&self, _: u8, phase: Phase, _: bool) -> &[(FaultKind, i64)] {
///         if phase == Phase::Request { &[(FaultKind::LoseRequest, 0)] } else { &[] }
///     }
/// }
/// let table = Table::of(&[&LosesRequests]);
/// assert_eq!(table.faults_at(22, Phase::Request, false), [(FaultKind::LoseRequest, 0)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// By [`place`].
    faults: Vec<Vec<Choice>>,
    /// Length of each, beside each other, so that counting a whole execution stays in the cache.
    counts: Vec<u16>,
}

impl Table {
    /// The union of spaces.
    pub fn of(spaces: &[&dyn Choices]) -> Self {
        let mut faults = Vec::with_capacity(PLACES);
        for step in 0..=u8::MAX {
            for phase in Phase::ALL {
                for replayable in [false, true] {
                    faults.push(union_at(spaces, step, phase, replayable));
                }
            }
        }
        let counts = faults
            .iter()
            .map(|choices: &Vec<Choice>| u16::try_from(choices.len()).unwrap_or(u16::MAX))
            .collect();
        Table { faults, counts }
    }

    /// What a reached site offers.
    pub fn at(&self, reached: &Reached) -> &[Choice] {
        &self.faults[place_of(reached)]
    }

    /// How many faults these sites offer together.
    pub fn count(&self, sites: &[Reached]) -> u64 {
        sites
            .iter()
            .map(|reached| u64::from(self.counts[place_of(reached)]))
            .sum()
    }

    /// True if the site offers this fault.
    pub fn offers(&self, reached: &Reached, choice: Choice) -> bool {
        self.at(reached).contains(&choice)
    }
}

impl Choices for Table {
    fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[Choice] {
        &self.faults[place(step, phase, replayable)]
    }
}

fn union_at(spaces: &[&dyn Choices], step: u8, phase: Phase, replayable: bool) -> Vec<Choice> {
    let mut choices: Vec<Choice> = spaces
        .iter()
        .flat_map(|space| space.faults_at(step, phase, replayable))
        .copied()
        .collect();
    choices.sort_unstable();
    choices.dedup();
    choices
}

pub(crate) const fn place(step: u8, phase: Phase, replayable: bool) -> usize {
    (step as usize * PHASES + phase as usize) * 2 + replayable as usize
}

pub(crate) const fn place_of(reached: &Reached) -> usize {
    place(reached.site.step, reached.site.phase, reached.replayable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::spec::Space;

    struct Fixed(&'static [Choice]);

    impl Choices for Fixed {
        fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[Choice] {
            match (step, phase, replayable) {
                (20, Phase::Done, true) => self.0,
                _ => &[],
            }
        }
    }

    #[test]
    fn a_union_is_in_canonical_order_and_names_each_fault_once() {
        let core = Fixed(&[(FaultKind::LoseReply, 0), (FaultKind::Crash, 0)]);
        let full = Fixed(&[
            (FaultKind::LoseReply, 0),
            (FaultKind::Delay, 50),
            (FaultKind::Delay, 70),
        ]);
        let table = Table::of(&[&full, &core]);
        assert_eq!(
            table.faults_at(20, Phase::Done, true),
            [
                (FaultKind::LoseReply, 0),
                (FaultKind::Delay, 50),
                (FaultKind::Delay, 70),
                (FaultKind::Crash, 0),
            ]
        );
        assert_eq!(table.faults_at(20, Phase::Done, false), []);
        assert_eq!(table.faults_at(21, Phase::Done, true), []);
    }

    #[test]
    fn a_scenarios_space_is_written_out_as_it_is() {
        let scenario = scenarios::Scenario::default();
        let core = Bounds::new(&scenario, Space::Core);
        let full = Bounds::new(&scenario, Space::Full);
        let table = Table::of(&[&full]);
        for step in 0..=u8::MAX {
            for phase in Phase::ALL {
                for replayable in [false, true] {
                    assert_eq!(
                        table.faults_at(step, phase, replayable),
                        full.faults_at(step, phase, replayable)
                    );
                }
            }
        }
        // Core lies inside full, so that a level of both is a level of full.
        assert_eq!(Table::of(&[&core, &full]), table);
    }

    #[test]
    fn every_place_has_its_own_entry() {
        let mut seen = vec![false; PLACES];
        for step in 0..=u8::MAX {
            for phase in Phase::ALL {
                for replayable in [false, true] {
                    let entry = &mut seen[place(step, phase, replayable)];
                    assert!(!*entry);
                    *entry = true;
                }
            }
        }
        assert!(seen.into_iter().all(|entry| entry));
    }
}
