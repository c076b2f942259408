//! refuse: the server says no and does nothing (deadlock, serialization failure, overload).

use super::Strike;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    if let Some(call) = strike.call.and_then(|key| world.calls.get(key)) {
        call.refused = true;
    }
}
