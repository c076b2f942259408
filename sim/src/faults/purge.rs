//! purge: the downstream forgets before its time which requests it has done.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    world.downstream.purge();
}
