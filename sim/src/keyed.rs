//! Randomness by key instead of by stream: the same question always has the same answer, whatever
//! else was asked before. Dropping a fault from a plan therefore leaves all other latencies alone.

/// What a number is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Use {
    /// Latency of a request.
    Request = 1,
    /// Latency of a reply.
    Reply = 2,
    /// Latency of the second copy of a request.
    Copy = 3,
    /// A number for the pipeline (traces, tokens, poll phases).
    Number = 4,
}

/// A 64-bit number from seed and key: the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", 2014) over both.
pub(crate) const fn number(seed: u64, key: u64, what: Use) -> u64 {
    let mixed = mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
    mix(mixed ^ mix(key ^ ((what as u64) << 56)))
}

/// The longest time a message needs for one leg; the shortest is 1 ms.
pub(crate) const LEG_MAX_MS: u64 = 5;

/// Latency of one leg of a call: 1 to [`LEG_MAX_MS`] ms.
pub(crate) const fn latency(seed: u64, key: u64, leg: Use) -> u64 {
    1 + number(seed, key, leg) % LEG_MAX_MS
}

/// The key of a leg of a call that belongs to no run: such calls are told apart by the moment, not
/// by how many there were before. What a fault has cost in extra polls is then forgotten as soon as
/// the world is at rest again, as everything else of it is.
pub(crate) const fn at_moment(key: u64, now_ms: u64) -> u64 {
    key ^ mix(now_ms.wrapping_add(1))
}

const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
