//! `[lock]`: the lock service (Redis).

use scheduler::{Span, Switchable};
use serde::{Deserialize, Serialize};
use servers::lock::Persistence;

/// `[lock]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockTable {
    /// Whether locks survive a restart of the service.
    pub persistence: bool,
    /// How often what is on disk is brought up to date where `persistence` is on: a restart loses
    /// what came since. Default: with every change.
    #[serde(skip_serializing_if = "is_off")]
    pub snapshot_every: Switchable,
    /// How far the replica that takes over in a failover is behind at most. Default: there is no
    /// replica, and no failover.
    #[serde(skip_serializing_if = "is_off")]
    pub replication_lag: Switchable,
    /// How many replicas have to have a change before the service answers (WAIT): what was answered
    /// is not lost in a failover. Default: none.
    #[serde(skip_serializing_if = "is_zero")]
    pub wait_replicas: u32,
    /// How often the client library sends a command again by itself when no answer came: the
    /// application hears only of the last one. Default: never. redis-py 8 does so 10 times.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_retries: u32,
}

impl Default for LockTable {
    fn default() -> Self {
        LockTable {
            persistence: true,
            snapshot_every: Switchable(None),
            replication_lag: Switchable(None),
            wait_replicas: 0,
            client_retries: 0,
        }
    }
}

impl LockTable {
    /// What of the locks is on disk.
    pub fn on_disk(&self) -> Persistence {
        match (self.persistence, self.snapshot_every.0) {
            (false, _) => Persistence::None,
            (true, None) => Persistence::Always,
            (true, Some(every)) => Persistence::Snapshot { every: every.ms() },
        }
    }

    /// Whether a restart loses anything.
    pub fn forgets(&self) -> bool {
        self.on_disk() != Persistence::Always
    }

    /// How far behind the replica may be that takes over; `None`: there is no failover.
    pub fn fails_over(&self) -> Option<Span> {
        self.replication_lag.0
    }

    /// How much a failover loses at most: nothing where every answer has waited for a replica.
    pub fn loses_at_most(&self) -> Span {
        let lag = self.replication_lag.0.filter(|_| self.wait_replicas == 0);
        lag.unwrap_or(Span::ZERO)
    }
}

pub(super) fn is_off(switchable: &Switchable) -> bool {
    switchable.0.is_none()
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_replica_was_waited_for_is_not_lost_in_a_failover() {
        let behind = LockTable {
            replication_lag: Switchable(Some(Span::secs(3))),
            ..LockTable::default()
        };
        assert_eq!(behind.loses_at_most(), Span::secs(3));
        let waited = LockTable {
            wait_replicas: 1,
            ..behind
        };
        assert_eq!(waited.loses_at_most(), Span::ZERO);
        assert_eq!(waited.fails_over(), Some(Span::secs(3)));
        assert_eq!(LockTable::default().fails_over(), None);
    }
}
