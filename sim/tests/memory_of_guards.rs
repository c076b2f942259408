//! What a guard keeps in the memory of its process cannot be read off the world, so that its
//! executions are never merged; whatever else a guard knows is in a server.
#![allow(clippy::unwrap_used)]

use runkey_sim::{Opaque, Parts, Setup};
use scenarios::Scenario;
use scheduler::guards::GuardConfig;

#[test]
fn only_the_guards_that_remember_in_their_process_are_opaque() {
    let mut opaque = Vec::new();
    for guard in GuardConfig::all() {
        let text = format!("[guard]\nkind = '{}'", guard.name());
        let scenario = Scenario::parse(&text, "guard.toml").unwrap();
        let setup = Setup::new(&scenario, Parts::default()).unwrap();
        if setup.transparent() == Err(Opaque::GuardMemory) {
            opaque.push(guard.name());
        } else {
            assert_eq!(setup.transparent(), Ok(()), "{}", guard.name());
        }
    }
    assert_eq!(opaque, ["process_mutex", "seen_set"]);
}
