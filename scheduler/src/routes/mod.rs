//! Routes: which executor an admin calls, one file each, as XXL-JOB 2.4 has them.
//!
//! What a route remembers is in the memory of one admin (its own, and gone with it): two admins
//! that take turns each go their own round. Source: `com.xxl.job.admin.core.route.strategy`.

mod consistent_hash;
mod first;
mod last;
mod least_frequently_used;
mod least_recently_used;
mod random;
mod round;

use crate::ports::Ask;
use evidence::{InstanceId, TimerId};
use serde::{Deserialize, Serialize};

/// `[topology] route`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteKind {
    /// The first executor, always.
    #[default]
    First,
    /// The last executor, always.
    Last,
    /// One after the other, by timer; every admin begins somewhere else and counts for itself.
    Round,
    /// Any.
    Random,
    /// By a hash of the timer: the same one for as long as the executors are the same.
    ConsistentHash,
    /// The one that this admin has called least often for the timer.
    LeastFrequentlyUsed,
    /// The one that this admin has not called for longest for the timer.
    LeastRecentlyUsed,
    /// The first that answers a beat.
    Failover,
    /// The first that says it is idle.
    Busyover,
    /// All of them, one call each. The handlers here do not take a shard of the run: each executes
    /// the whole of it.
    ShardingBroadcast,
}

impl RouteKind {
    /// Every route.
    pub const ALL: [RouteKind; 10] = [
        RouteKind::First,
        RouteKind::Last,
        RouteKind::Round,
        RouteKind::Random,
        RouteKind::ConsistentHash,
        RouteKind::LeastFrequentlyUsed,
        RouteKind::LeastRecentlyUsed,
        RouteKind::Failover,
        RouteKind::Busyover,
        RouteKind::ShardingBroadcast,
    ];

    /// As written in files.
    pub const fn name(self) -> &'static str {
        match self {
            RouteKind::First => "first",
            RouteKind::Last => "last",
            RouteKind::Round => "round",
            RouteKind::Random => "random",
            RouteKind::ConsistentHash => "consistent_hash",
            RouteKind::LeastFrequentlyUsed => "least_frequently_used",
            RouteKind::LeastRecentlyUsed => "least_recently_used",
            RouteKind::Failover => "failover",
            RouteKind::Busyover => "busyover",
            RouteKind::ShardingBroadcast => "sharding_broadcast",
        }
    }

    /// Whether an admin remembers whom it has called.
    pub const fn remembers(self) -> bool {
        matches!(
            self,
            RouteKind::Round | RouteKind::LeastFrequentlyUsed | RouteKind::LeastRecentlyUsed
        )
    }

    /// Whether executors are asked before one of them is called.
    pub const fn asks(self) -> bool {
        matches!(self, RouteKind::Failover | RouteKind::Busyover)
    }

    /// Builds the route for one incarnation of an admin.
    pub(crate) fn build(self) -> Box<dyn Route> {
        match self {
            RouteKind::First => Box::new(first::First),
            RouteKind::Last => Box::new(last::Last),
            RouteKind::Round => Box::new(round::Round::default()),
            RouteKind::Random => Box::new(random::Random),
            RouteKind::ConsistentHash => Box::new(consistent_hash::ConsistentHash),
            RouteKind::LeastFrequentlyUsed => {
                Box::new(least_frequently_used::LeastFrequentlyUsed::default())
            }
            RouteKind::LeastRecentlyUsed => {
                Box::new(least_recently_used::LeastRecentlyUsed::default())
            }
            RouteKind::Failover => Box::new(Asks(|_| Ask::Beat)),
            RouteKind::Busyover => Box::new(Asks(|timer| Ask::Idle(timer.clone()))),
            RouteKind::ShardingBroadcast => Box::new(Broadcast),
        }
    }
}

/// What a route is asked.
pub(crate) struct Choice<'a> {
    /// The timer.
    pub(crate) timer: &'a TimerId,
    /// All executors, in their order; never empty.
    pub(crate) executors: &'a [InstanceId],
    /// The same for every call of the timer by this admin.
    pub(crate) steady: u64,
    /// Another one for each call.
    pub(crate) random: u64,
}

impl Choice<'_> {
    /// The executor at this place, counted round.
    fn at(&self, place: u64) -> Chosen {
        let count = self.executors.len().max(1) as u64;
        // Less than the number of executors.
        let place = usize::try_from(place % count).unwrap_or(0);
        self.executors
            .get(place)
            .map_or(Chosen::Nobody, |to| Chosen::One(*to))
    }
}

/// Whom a route has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// There is no executor.
    Nobody,
    /// This one.
    One(InstanceId),
    /// The first in their order that says yes to this.
    WhoSaysYes(Ask),
    /// All, each with a call of its own.
    All,
}

/// Chooses whom to call.
pub(crate) trait Route: Send + Sync {
    /// Whom, this time.
    fn choose(&self, choice: &Choice<'_>) -> Chosen;
}

/// `failover` and `busyover`: they differ in what is asked.
struct Asks(fn(&TimerId) -> Ask);

impl Route for Asks {
    fn choose(&self, choice: &Choice<'_>) -> Chosen {
        Chosen::WhoSaysYes((self.0)(choice.timer))
    }
}

/// `sharding_broadcast`.
struct Broadcast;

impl Route for Broadcast {
    fn choose(&self, _: &Choice<'_>) -> Chosen {
        Chosen::All
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The executors 7, 8 and 9.
    const THREE: [InstanceId; 3] = [InstanceId(7), InstanceId(8), InstanceId(9)];

    /// Whom a route calls for a timer, time after time, if what is random is this.
    pub(crate) fn calls(kind: RouteKind, timers: &[&str], random: &[u64]) -> Vec<u8> {
        let route = kind.build();
        let timers = timers.iter().cycle();
        timers
            .zip(random)
            .map(|(timer, random)| {
                let choice = Choice {
                    timer: &TimerId::new(*timer),
                    executors: &THREE,
                    steady: 4,
                    random: *random,
                };
                match route.choose(&choice) {
                    Chosen::One(to) => to.0,
                    other => panic!("{other:?}"),
                }
            })
            .collect()
    }

    #[test]
    fn failover_asks_who_is_there_and_busyover_who_is_idle() {
        let timer = TimerId::new("report");
        let choice = Choice {
            timer: &timer,
            executors: &THREE,
            steady: 0,
            random: 0,
        };
        let chosen = |kind: RouteKind| kind.build().choose(&choice);
        assert_eq!(chosen(RouteKind::Failover), Chosen::WhoSaysYes(Ask::Beat));
        let idle = Ask::Idle(timer.clone());
        assert_eq!(chosen(RouteKind::Busyover), Chosen::WhoSaysYes(idle));
        assert_eq!(chosen(RouteKind::ShardingBroadcast), Chosen::All);
    }

    #[test]
    fn where_nobody_is_nobody_is_chosen() {
        let timer = TimerId::new("report");
        let choice = Choice {
            timer: &timer,
            executors: &[],
            steady: 3,
            random: 3,
        };
        for kind in RouteKind::ALL {
            let chosen = kind.build().choose(&choice);
            assert!(!matches!(chosen, Chosen::One(_)), "{}", kind.name());
        }
    }

    #[test]
    fn a_route_is_written_as_it_is_called() {
        for kind in RouteKind::ALL {
            let written = serde_test_name(kind);
            assert_eq!(written, kind.name());
        }
    }

    fn serde_test_name(kind: RouteKind) -> String {
        let table = toml::Table::try_from(std::collections::BTreeMap::from([("route", kind)]));
        let table = table.unwrap_or_default();
        table["route"].as_str().unwrap_or_default().to_owned()
    }
}
