//! partition: nothing passes between instance and server, in one direction or both.

use super::Strike;
use crate::world::World;
use scenarios::spec::FaultKind;

pub(super) fn strike(world: &mut World, strike: &Strike<'_>) {
    let until = world.now + strike.lasts();
    world.note(strike.fault, strike.step, strike.ids, Some(until));
    let Some(server) = strike.server else { return };
    let process = &mut world.processes[usize::from(strike.instance())];
    let link = &mut process.links[server as usize];
    if strike.fault.kind != FaultKind::PartitionFromServer {
        link.to_server = link.to_server.max(until);
    }
    if strike.fault.kind != FaultKind::PartitionToServer {
        link.from_server = link.from_server.max(until);
    }
}
