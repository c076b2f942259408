//! One process of the set-up: its name, its life, and the ports it sees the world through.

use crate::ports::Ports;
use evidence::InstanceId;
use std::sync::Arc;

/// One incarnation of one instance; everything in its memory ends with it.
#[derive(Clone)]
pub struct Instance {
    /// Name, such as `executor-1`.
    pub name: Arc<str>,
    /// Position in the cast.
    pub id: InstanceId,
    /// Which life, from 1.
    pub incarnation: u16,
    /// What it calls itself where owners are compared (`[[instance]] identity`); `None`: something
    /// that no other incarnation is called.
    pub identity: Option<Arc<str>>,
    /// Its ports.
    pub ports: Ports,
}

impl Instance {
    /// Its identity as a number that fits an owner's token: every incarnation its own, unless the
    /// scenario gives it a name.
    pub fn identity_number(&self) -> u64 {
        match &self.identity {
            Some(identity) => fnv(identity),
            None => fnv(&format!("{}#{}", self.name, self.incarnation)),
        }
    }
}

/// FNV-1a, 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::bench::Bench;

    #[test]
    fn every_life_has_an_identity_of_its_own_unless_the_scenario_gives_it_a_name() {
        let bench = Bench::new();
        let life = |name: &str, incarnation, identity: Option<&str>| {
            let instance = Instance {
                name: name.into(),
                id: InstanceId(0),
                incarnation,
                identity: identity.map(Arc::from),
                ports: bench.ports().clone(),
            };
            instance.identity_number()
        };
        assert_ne!(life("a", 1, None), life("a", 2, None));
        assert_ne!(life("a", 1, None), life("b", 1, None));
        assert_eq!(life("a", 1, Some("app")), life("b", 2, Some("app")));
        assert_ne!(life("a", 1, Some("app")), life("a", 1, Some("other")));
    }
}
