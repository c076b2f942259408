//! delay: the request arrives later; its caller may have given up by then, the server does not know.

use super::{Strike, Travel};
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) -> Travel {
    let later = strike.lasts();
    world.note(
        strike.fault,
        strike.step,
        strike.ids,
        Some(world.now + later),
    );
    Travel::On { later }
}
