//! operator_replay: a person publishes a copy of a message of this run that was already accepted.

use super::Strike;
use crate::world::{World, run_of};
use scenarios::spec::RunRef;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    if let RunRef::Slot(slot) = run_of(strike.ids) {
        world.replay(strike.instance(), slot, strike.ids);
    }
}
