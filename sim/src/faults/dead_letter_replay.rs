//! dead_letter_replay: a person puts every dead letter back into the queue.

use super::Strike;
use crate::world::World;
use evidence::Ids;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    for slot in world.broker.take_dead() {
        world.replay(strike.instance(), slot, &Ids::default());
    }
}
