//! pause: the instance stands still; its connections stay, its timers are late when it goes on.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let until = world.now + strike.lasts();
    world.note(strike.fault, strike.step, strike.ids, Some(until));
    world.pause(strike.instance(), until);
}
