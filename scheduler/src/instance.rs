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
    /// Its ports.
    pub ports: Ports,
}
