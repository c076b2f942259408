//! By a hash of timer and executor, the highest wins: a timer keeps its executor, and loses it only
//! if that executor goes. Source: ExecutorRouteConsistentHash (a ring of 100 points an executor;
//! what it promises is the same).

use super::{Choice, Chosen, Route};
use evidence::{InstanceId, TimerId};

pub(super) struct ConsistentHash;

impl Route for ConsistentHash {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        let weight = |to: &InstanceId| weight(choice.timer, *to);
        let highest = choice.executors.iter().copied().max_by_key(weight);
        highest.map_or(Chosen::Nobody, Chosen::One)
    }
}

/// FNV-1a, and a last mix so that the last byte, the executor's, reaches every bit.
fn weight(timer: &TimerId, to: InstanceId) -> u64 {
    let bytes = timer.as_str().bytes().chain([to.0]);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use crate::routes::{RouteKind, tests::calls};
    use std::collections::BTreeSet;

    #[test]
    fn a_timer_keeps_its_executor_and_timers_are_spread() {
        let kind = RouteKind::ConsistentHash;
        let of = |timer: &str| calls(kind, &[timer], &[1, 2, 3]);
        let names: Vec<String> = (0..12).map(|n| format!("timer-{n}")).collect();
        let mut used = BTreeSet::new();
        for name in &names {
            let called = of(name);
            assert!(called.iter().all(|to| *to == called[0]), "{name}");
            used.insert(called[0]);
        }
        assert_eq!(used.into_iter().collect::<Vec<_>>(), [7, 8, 9]);
    }
}
