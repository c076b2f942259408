//! What an explorer needs of an execution besides its history: every strike point that it reached.

use evidence::{InstanceId, SlotTag, Step};
use rustc_hash::{FxBuildHasher, FxHashMap};
use scenarios::spec::{Phase, RunRef, Site};
use sim::Reached;

/// Where an instance is: at the `n`-th occurrence of a step of a run.
#[derive(Clone, Copy)]
pub struct Place {
    pub instance: u8,
    pub step: &'static Step,
    pub slot: SlotTag,
    pub n: u16,
}

/// Watches an execution.
pub trait Watch: Default {
    /// Which occurrence this is; without a fault it is known beforehand.
    fn count(&mut self, place: Place) -> u16 {
        place.n
    }

    /// A strike point is reached. `accepted`: whether a message of the run was accepted by then.
    fn reach(&mut self, place: Place, phase: Phase, accepted: impl FnOnce() -> bool) {
        let _ = (place, phase, accepted);
    }
}

/// Sees nothing: the floor.
#[derive(Default)]
pub struct Blind;

impl Watch for Blind {}

/// Counts the occurrences and keeps the strike points, in the order of the moments.
pub struct Sites {
    occurrences: FxHashMap<(u8, u8, RunRef), u16>,
    pub reached: Vec<Reached>,
}

impl Default for Sites {
    fn default() -> Self {
        Sites {
            occurrences: FxHashMap::with_capacity_and_hasher(56, FxBuildHasher),
            reached: Vec::with_capacity(128),
        }
    }
}

fn run(slot: SlotTag) -> RunRef {
    slot.truth().map_or(RunRef::None, RunRef::Slot)
}

impl Watch for Sites {
    fn count(&mut self, place: Place) -> u16 {
        let key = (place.instance, place.step.number, run(place.slot));
        let n = self.occurrences.entry(key).or_insert(0);
        *n += 1;
        *n
    }

    fn reach(&mut self, place: Place, phase: Phase, accepted: impl FnOnce() -> bool) {
        let site = Site {
            instance: InstanceId(place.instance),
            step: place.step.number,
            run: run(place.slot),
            n: place.n,
            phase,
        };
        self.reached.push(Reached {
            site,
            replayable: phase == Phase::Before && place.slot != SlotTag::NONE && accepted(),
        });
    }
}
