//! Numbers that look random and depend on nothing but a key: xxh3-64 of (key, counter).

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of draws. The same key gives the same sequence, for ever: plans must replay for
/// years.
#[derive(Clone, Debug)]
pub struct Draw {
    key: u64,
    drawn: u64,
}

impl Draw {
    /// The sequence of this key.
    pub const fn new(key: u64) -> Self {
        Draw { key, drawn: 0 }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let bits = xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.key);
        self.drawn += 1;
        bits
    }

    /// A number from 0 to `count - 1`; 0 if `count` is 0. The bias is below count / 2^64.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }
}
