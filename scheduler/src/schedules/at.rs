//! `at`: due at given times, once each.

use super::ScheduleError;
use evidence::Timestamp;

/// Times in order.
#[derive(Clone, Debug)]
pub(super) struct At {
    times: Vec<Timestamp>,
}

impl At {
    pub(super) fn compile(times: &[Timestamp], epoch: Timestamp) -> Result<Self, ScheduleError> {
        let first = times.first().ok_or(ScheduleError::NoTimes)?;
        if *first < epoch {
            return Err(ScheduleError::BeforeEpoch {
                time: *first,
                epoch,
            });
        }
        match times.windows(2).find(|pair| pair[1] <= pair[0]) {
            Some(pair) => Err(ScheduleError::NotInOrder {
                time: pair[1],
                before: pair[0],
            }),
            None => Ok(At {
                times: times.to_vec(),
            }),
        }
    }

    pub(super) fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let place = self.times.partition_point(|time| *time <= after);
        self.times.get(place).copied()
    }
}
