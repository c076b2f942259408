//! duplicate_request: the request arrives twice; the server does it twice, the caller hears once.

use super::Strike;
use crate::agenda::Action;
use crate::keyed::Use;
use crate::world::World;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    world.note(strike.fault, strike.step, strike.ids, None);
    let Some(key) = strike.call else { return };
    let at = world.now + world.latency(key, Use::Copy);
    if let Some(call) = world.calls.get(key) {
        call.copy = call.request.clone();
        call.references += 1;
        let instance = call.instance;
        world.agenda.add(at, instance, Action::ArriveAgain(key));
    }
}
