//! failover: a standby that is behind takes over; the server is away for `restart_after`.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let up = world.now + world.constants.restart_after;
    world.note(strike.fault, strike.step, strike.ids, Some(up));
    let Some(server) = strike.server else { return };
    world.server_goes_down(server, strike.instance(), up, strike.fault.magnitude_ms);
}
