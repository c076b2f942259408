//! session_loss: the coordinator forgets the sessions of an instance that is alive.

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    let instance = strike.instance();
    world
        .coordinator
        .lose(world.now, |member| member.instance == instance);
}
