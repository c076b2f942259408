//! The simulator's keyed randomness, repeated here: the same latencies, traces and tokens. The
//! equality of the histories holds the two together.

use evidence::{SlotTag, Step};

pub const REQUEST: u64 = 1;
pub const REPLY: u64 = 2;
const NUMBER: u64 = 4;

const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const fn number(seed: u64, key: u64, what: u64) -> u64 {
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ mix(key ^ (what << 56)))
}

/// Names the `n`-th occurrence of a step of a run in an instance; `n` is 0 where nothing counts.
pub fn key(instance: u8, step: &Step, slot: SlotTag, n: u16) -> u64 {
    let run = slot.truth().map_or(0, |slot| {
        1 + (u64::from(slot.timer) << 24 | u64::from(slot.ordinal))
    });
    u64::from(n) << 48 | u64::from(instance) << 40 ^ u64::from(step.number) << 33 ^ run
}

/// Names a call: of a run by its occurrence, of none by the moment at which each leg begins.
pub fn call(instance: u8, step: &Step, slot: SlotTag, n: u16) -> u64 {
    key(
        instance,
        step,
        slot,
        if slot == SlotTag::NONE { 0 } else { n },
    )
}

/// Latency of one leg of a call that begins now: 1 to 5 ms.
pub fn latency(seed: u64, key: u64, slot: SlotTag, leg: u64, now: u64) -> u64 {
    let key = if slot == SlotTag::NONE {
        key ^ mix(now.wrapping_add(1))
    } else {
        key
    };
    1 + number(seed, key, leg) % 5
}

/// Where in its period an instance polls.
pub fn phase(seed: u64, instance: u8, step: &Step, every: u64) -> u64 {
    number(seed, key(instance, step, SlotTag::NONE, 0), NUMBER) % every
}

/// The first number that an instance draws at a step of a run.
pub fn random(seed: u64, instance: u8, step: &Step, slot: SlotTag) -> u64 {
    number(seed, key(instance, step, slot, 1), NUMBER)
}
