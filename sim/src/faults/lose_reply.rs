//! lose_reply: the server did it, and the caller never hears.

use super::{Strike, Travel};
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) -> Travel {
    world.note(strike.fault, strike.step, strike.ids, None);
    Travel::Lost
}
