//! graceful_stop: the instance is asked to stop, finishes what it has begun, and is back after
//! `restart_after`.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    world.ask_to_stop(strike.instance());
}
