//! Names a plan, and a whole level, by hashes that do not depend on who ran what when.

use evidence::TraceHash;
use scenarios::spec::{Fault, RunRef};
use std::fmt;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A digest over the (seed, plan, history hash) triples of a level.
///
/// The wrapping sum of one xxh3-128 hash per triple: the same set of executions gives the same
/// digest in any order, from any number of threads. It detects accidents, not forgers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Digest(pub u128);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Digest {
    pub(crate) fn merge(&mut self, other: Digest) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// The bytes of a seed and a plan: the seed, then 21 bytes per fault, all little-endian.
///
/// Grows and shrinks with the plan of a depth-first walk, so that a plan costs no allocation.
#[derive(Clone, Debug)]
pub(crate) struct PlanBytes(Vec<u8>);

const SEED_LEN: usize = 8;
const FAULT_LEN: usize = 21;

impl PlanBytes {
    pub fn of(seed: u64, faults: &[Fault]) -> Self {
        let mut bytes = PlanBytes(seed.to_le_bytes().to_vec());
        for fault in faults {
            bytes.push(fault);
        }
        bytes
    }

    pub fn push(&mut self, fault: &Fault) {
        let site = &fault.site;
        let (tag, timer, ordinal) = match site.run {
            RunRef::None => (0, 0, 0),
            RunRef::Slot(slot) => (1, slot.timer, slot.ordinal),
        };
        let mut bytes = [0; FAULT_LEN];
        bytes[0] = site.instance.0;
        bytes[1] = site.step;
        bytes[2] = tag;
        bytes[3..5].copy_from_slice(&timer.to_le_bytes());
        bytes[5..9].copy_from_slice(&ordinal.to_le_bytes());
        bytes[9..11].copy_from_slice(&site.n.to_le_bytes());
        bytes[11] = site.phase as u8;
        bytes[12] = fault.kind as u8;
        bytes[13..21].copy_from_slice(&fault.magnitude_ms.to_le_bytes());
        self.0.extend_from_slice(&bytes);
    }

    pub fn pop(&mut self) {
        let shorter = self.0.len().saturating_sub(FAULT_LEN).max(SEED_LEN);
        self.0.truncate(shorter);
    }

    /// Chooses samples; independent of what the execution gave.
    pub fn hash(&self) -> u64 {
        xxh3_64(&self.0)
    }

    /// This plan's share of a digest.
    pub fn digest(&mut self, trace: TraceHash) -> Digest {
        let len = self.0.len();
        self.0.extend_from_slice(&trace.0.to_le_bytes());
        let hash = xxh3_128(&self.0);
        self.0.truncate(len);
        Digest(hash)
    }
}
