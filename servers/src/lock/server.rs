//! A server that holds keys: what it still has after a restart, and after a failover.

use super::Keys;
use crate::Ms;
use crate::broken::{self, Broken};

/// What of the keys is on disk.
///
/// Source: "Redis persistence" of the Redis documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Persistence {
    /// Nothing (`save ""`, `appendonly no`).
    #[default]
    None,
    /// Every change before it is answered (`appendfsync always`).
    Always,
    /// What was there at the last full second (`appendfsync everysec`): a lost machine loses at
    /// most 1 s, a killed process nothing, since what it wrote is with the operating system.
    EverySecond,
    /// What was there at the last snapshot (RDB); one is made each time so many milliseconds have
    /// passed, and at an orderly shutdown.
    Snapshot {
        /// The time from one to the next.
        every: Ms,
    },
}

/// How a server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// SHUTDOWN or a SIGTERM: it writes what its persistence writes.
    Orderly,
    /// Its process is killed: `kill -9`, out of memory.
    Killed,
    /// Its machine is gone: power, kernel, hardware.
    PowerLost,
}

/// The server.
#[derive(Clone, Debug)]
pub struct Server<V> {
    /// The keys.
    pub keys: Keys<V>,
    persistence: Persistence,
    /// When somebody last asked for a snapshot.
    saved: Option<Ms>,
    down: bool,
}

impl<V: Clone + PartialEq> Server<V> {
    /// A server without keys. Where `failover` is given, changes of so many milliseconds can be
    /// lost to a replica that was behind.
    pub fn new(persistence: Persistence, failover: Ms) -> Self {
        let mut keys = Keys::default();
        let written_late = match persistence {
            Persistence::None | Persistence::Always => 0,
            Persistence::EverySecond => 1000,
            Persistence::Snapshot { every } => every,
        };
        keys.remember(failover.max(written_late));
        Server {
            keys,
            persistence,
            saved: None,
            down: false,
        }
    }

    /// How it persists from now on.
    pub fn persist(&mut self, persistence: Persistence) {
        self.persistence = persistence;
    }

    /// How it persists.
    pub const fn persistence(&self) -> Persistence {
        self.persistence
    }

    /// Whether it answers.
    pub const fn is_down(&self) -> bool {
        self.down
    }

    /// SAVE: what is there now is on disk, whatever the persistence.
    pub fn save(&mut self, now: Ms) {
        self.saved = Some(now);
    }

    /// It stops, and has from then on only what is on disk.
    pub fn stop(&mut self, now: Ms, how: Stop) {
        if std::mem::replace(&mut self.down, true) {
            return;
        }
        match self.persistence {
            Persistence::None if broken::is(Broken::LockSurvivesRestart) => {}
            Persistence::None => match self.saved {
                Some(saved) => self.keys.undo_since(saved),
                None => self.keys.forget(),
            },
            Persistence::Always => {}
            Persistence::EverySecond if how != Stop::PowerLost => {}
            Persistence::EverySecond => self.keys.undo_since(now - now % 1000),
            Persistence::Snapshot { .. } if how == Stop::Orderly => {}
            Persistence::Snapshot { every } => {
                let regular = now - now % every.max(1);
                self.keys
                    .undo_since(self.saved.map_or(regular, |saved| saved.max(regular)));
            }
        }
    }

    /// It is back. Ends of keys are moments of the wall clock: they came nearer meanwhile.
    pub fn start(&mut self) {
        self.down = false;
    }

    /// A replica takes over that had not yet got the last `lost` milliseconds of changes; whoever
    /// was told that they were done is not told of it. Ends of keys stay: Redis replicates moments
    /// (PEXPIREAT), not lengths.
    pub fn fail_over(&mut self, now: Ms, lost: Ms) {
        self.keys.undo_since(now.saturating_sub(lost));
        self.down = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Key, Lives, Only};
    use super::*;

    /// Sets `k` to 1 at 400, and to 2 at 1600; `e` ends at 2000.
    fn written(persistence: Persistence, failover: Ms) -> Server<u64> {
        let mut server = Server::new(persistence, failover);
        let key = Key::from("k");
        assert!(server.keys.set(400, &key, 1, Only::Always, Lives::Forever));
        assert!(
            server
                .keys
                .set(400, &"e".into(), 1, Only::Always, Lives::Until(2000))
        );
        assert!(server.keys.set(1600, &key, 2, Only::Always, Lives::Forever));
        server
    }

    #[test]
    fn what_is_left_after_a_restart_is_what_was_on_disk() {
        use Persistence::{Always, EverySecond, None, Snapshot};
        use Stop::{Killed, Orderly, PowerLost};
        let often = Snapshot { every: 500 };
        for (persistence, how, left) in [
            (None, Orderly, Option::None),
            (None, Killed, Option::None),
            (Always, PowerLost, Some(2)),
            (EverySecond, Killed, Some(2)),
            (EverySecond, PowerLost, Some(1)),
            (often, Orderly, Some(2)),
            (often, Killed, Some(1)),
        ] {
            let mut server = written(persistence, 0);
            server.stop(1700, how);
            assert!(server.is_down());
            server.start();
            let there = server.keys.get(1800, "k").copied();
            assert_eq!(there, left, "{persistence:?} {how:?}");
        }
    }

    #[test]
    fn what_was_saved_by_hand_is_left_without_persistence() {
        let mut server = written(Persistence::None, 10_000);
        server.save(1000);
        server.stop(1700, Stop::Killed);
        server.start();
        assert_eq!(server.keys.get(1700, "k"), Some(&1));
    }

    #[test]
    fn time_to_live_runs_on_while_the_server_is_down() {
        let mut server = written(Persistence::Always, 0);
        server.stop(1700, Stop::Killed);
        server.start();
        assert_eq!(server.keys.get(1999, "e"), Some(&1));
        assert_eq!(server.keys.get(2000, "e"), None);
    }

    #[test]
    fn a_failover_loses_what_the_replica_had_not_got() {
        for (lost, left) in [(99, 2), (100, 2), (101, 1)] {
            let mut server = written(Persistence::None, 1000);
            server.fail_over(1700, lost);
            assert_eq!(server.keys.get(1700, "k"), Some(&left), "{lost}");
        }
    }
}
