//! database_failover: a standby that was behind takes over after `restart_after`.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let up = world.now + world.constants.restart_after;
    world.note(strike.fault, strike.step, strike.ids, Some(up));
    world.database_goes_down(strike.instance(), up, strike.fault.magnitude_ms);
}
