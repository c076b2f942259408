//! lose_request: the request never arrives, and the caller waits until its timeout.

use super::{Strike, Travel};
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) -> Travel {
    world.note(strike.fault, strike.step, strike.ids, None);
    Travel::Lost
}
