//! broker_failover: a replica that was behind takes over after `restart_after`.

use super::Strike;
use crate::agenda::Action;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let up = world.now + world.constants.restart_after;
    world.note(strike.fault, strike.step, strike.ids, Some(up));
    world.agenda.add(up, strike.instance(), Action::BrokerUp);
    world.broker_fails_over(strike.lasts());
}
