//! broker_restart: the broker is away for `restart_after`, and every connection to it breaks.

use super::Strike;
use crate::world::World;
use scenarios::spec::Server;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let up = world.now + world.constants.restart_after;
    world.note(strike.fault, strike.step, strike.ids, Some(up));
    world.server_goes_down(Server::Broker, strike.instance(), up, 0);
}
