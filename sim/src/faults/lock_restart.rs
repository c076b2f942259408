//! lock_restart: the lock service is away for `restart_after`, and has then what was on disk.

use super::Strike;
use crate::agenda::Action;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let up = world.now + world.constants.restart_after;
    world.note(strike.fault, strike.step, strike.ids, Some(up));
    world.agenda.add(up, strike.instance(), Action::LockUp);
    world.locks.go_down(world.now);
}
