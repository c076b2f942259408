//! crash: the instance dies with everything in its memory, and is back after `restart_after`.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let back = world.now + world.constants.restart_after;
    // Told while the incarnation that dies is still the current one.
    world.note(strike.fault, strike.step, strike.ids, Some(back));
    world.crash(strike.instance());
}
