//! The wall clock of one instance: it may be wrong from the start, run at its own speed, and jump.

use crate::agenda::Ms;
use evidence::Timestamp;
use scenarios::file::ClockTable;

/// What an instance believes: epoch + elapsed x (1 + drift) + offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    epoch: i64,
    offset_ms: i64,
    drift_ppm: i64,
}

impl WallClock {
    pub(crate) fn new(epoch: Timestamp, table: &ClockTable) -> Self {
        WallClock {
            epoch: epoch.0,
            offset_ms: table.skew.ms(),
            drift_ppm: i64::from(table.drift_ppm),
        }
    }

    /// How far it is off, its drift apart.
    pub(crate) const fn offset_ms(&self) -> i64 {
        self.offset_ms
    }

    /// What the clock reads.
    pub(crate) fn read(&self, now: Ms) -> Timestamp {
        let elapsed = i64::try_from(now).unwrap_or(i64::MAX / 2);
        Timestamp(self.epoch + elapsed + self.drift(elapsed) + self.offset_ms)
    }

    fn drift(&self, elapsed: i64) -> i64 {
        if self.drift_ppm == 0 {
            return 0;
        }
        let drift = i128::from(elapsed) * i128::from(self.drift_ppm) / 1_000_000;
        i64::try_from(drift).unwrap_or(0)
    }

    /// When the clock first reads `reading` or later, if it does not jump before.
    pub(crate) fn when(&self, reading: Timestamp) -> Ms {
        let elapsed = i128::from(reading.0) - i128::from(self.epoch) - i128::from(self.offset_ms);
        let about = elapsed * 1_000_000 / (1_000_000 + i128::from(self.drift_ppm));
        // Two divisions were rounded: the moment is at most two later.
        let earliest = (about - 2).clamp(0, i128::from(i64::MAX / 4));
        let mut at = u64::try_from(earliest).unwrap_or(0);
        for _ in 0..4 {
            if self.read(at) >= reading {
                break;
            }
            at += 1;
        }
        at
    }

    /// The clock jumps.
    pub(crate) const fn step(&mut self, by_ms: i64) {
        self.offset_ms = self.offset_ms.saturating_add(by_ms);
    }

    /// How long to sleep, on a clock that does not jump, until this one should read `until`.
    pub(crate) fn until(&self, now: Ms, until: Timestamp) -> Ms {
        u64::try_from(until.0.saturating_sub(self.read(now).0)).unwrap_or(0)
    }
}
