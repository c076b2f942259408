//! database_restart: the database is away for `restart_after`; open transactions are gone.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let up = world.now + world.constants.restart_after;
    world.note(strike.fault, strike.step, strike.ids, Some(up));
    world.database_goes_down(strike.instance(), up, 0);
}
