//! The timers at work: where runs are sharded, one a shard.

use super::{Scenario, TimerTable, TopologyKind};

impl Scenario {
    /// What is fired, in the order of the cast: the timers, or `report/0`, `report/1` and so on
    /// where every slot is one run a shard.
    pub fn timers_at_work(&self) -> Vec<TimerTable> {
        let Some(shards) = self.shards() else {
            return self.timers.clone();
        };
        let of = |timer: &TimerTable| {
            let timer = timer.clone();
            (0..shards).map(move |shard| TimerTable {
                id: format!("{}/{shard}", timer.id),
                ..timer.clone()
            })
        };
        self.timers.iter().flat_map(of).collect()
    }

    /// The shard of each of [`Scenario::timers_at_work`]; empty where nothing is sharded.
    pub fn shards_of_timers(&self) -> Vec<u32> {
        let shards = self.shards().unwrap_or(0);
        self.timers.iter().flat_map(|_| 0..shards).collect()
    }

    /// How many shards a timer has, where there are any.
    fn shards(&self) -> Option<u32> {
        let coordinator = self.coordinator.as_ref()?;
        let sharded = self.topology.kind == TopologyKind::Sharded;
        sharded.then_some(coordinator.shards)
    }
}
