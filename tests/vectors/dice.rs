//! Chance that a seed decides.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Chance, by a seed and the name of what it is for (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mixed = purpose.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Dice(mixed)
    }

    /// One of `0..end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % end.max(1) as u64).unwrap_or(0)
    }

    /// A name that is no word of SQL: two digits stand in it.
    pub fn name(&mut self) -> String {
        let mut name = String::from("n");
        for at in 0..7 {
            let letter = if at % 3 == 1 {
                b'0' + u8::try_from(self.below(10)).unwrap_or(0)
            } else {
                b'a' + u8::try_from(self.below(26)).unwrap_or(0)
            };
            name.push(char::from(letter));
        }
        name
    }

    /// One of these.
    #[cfg(feature = "live")]
    pub fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// For each of these another from the range, in the same order.
    pub fn in_order(&mut self, used: &BTreeSet<u8>, range: RangeInclusive<u8>) -> BTreeMap<u8, u8> {
        let mut free: Vec<u8> = range.collect();
        while free.len() > used.len() {
            free.remove(self.below(free.len()));
        }
        used.iter().copied().zip(free).collect()
    }
}
