//! Which phases of which steps executions came to, whether or not a fault struck there.
//!
//! Coverage says where faults took effect. Where none did, this tells whether that was for want of
//! a step, of a phase, or of depth.

use crate::Reached;
use crate::choices::{place, place_of};
use scenarios::spec::Phase;

/// A set of (step, phase, whether a message of the run had been accepted).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Places {
    /// One bit for each place, 64 to a word; as long as the highest place needs.
    pub(crate) words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl Places {
    /// True if some execution came to this phase of this step.
    pub fn has(&self, step: u8, phase: Phase, replayable: bool) -> bool {
        let place = place(step, phase, replayable);
        let word = self.words.get(place / BITS).copied().unwrap_or(0);
        word >> (place % BITS) & 1 == 1
    }

    /// True if some execution came to this step.
    pub fn has_step(&self, step: u8) -> bool {
        Phase::ALL
            .into_iter()
            .any(|phase| self.has(step, phase, false) || self.has(step, phase, true))
    }

    pub(crate) fn add(&mut self, sites: &[Reached]) {
        for site in sites {
            let place = place_of(site);
            let word = place / BITS;
            if word >= self.words.len() {
                self.words.resize(word + 1, 0);
            }
            self.words[word] |= 1 << (place % BITS);
        }
    }

    pub(crate) fn merge(&mut self, other: &Places) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::InstanceId;
    use scenarios::spec::{RunRef, Site};

    fn reached(step: u8, phase: Phase, replayable: bool) -> Reached {
        Reached {
            site: Site {
                instance: InstanceId(0),
                step,
                run: RunRef::None,
                n: 1,
                phase,
            },
            replayable,
        }
    }

    #[test]
    fn a_place_is_had_after_it_was_reached_and_no_other_is() {
        let mut places = Places::default();
        assert!(!places.has_step(255));
        places.add(&[reached(22, Phase::Done, true)]);
        let mut others = Places::default();
        others.add(&[reached(255, Phase::Reply, true)]);
        places.merge(&others);
        assert!(places.has(22, Phase::Done, true));
        assert!(!places.has(22, Phase::Done, false));
        assert!(!places.has(22, Phase::Reply, true));
        assert!(places.has_step(22) && places.has_step(255) && !places.has_step(21));
    }
}
