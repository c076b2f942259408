//! lock_failover: a replica of the lock service takes over that had not got the last changes.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    world.locks.server.fail_over(world.now, strike.lasts());
}
