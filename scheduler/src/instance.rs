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
