//! clock_step: the wall clock of the instance jumps; sleeps that have begun are not moved.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    let process = &mut world.processes[usize::from(strike.instance())];
    process.clock.step(strike.fault.magnitude_ms);
    world.rearrange_polls_of(strike.instance());
}
