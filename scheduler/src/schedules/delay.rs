//! `delay`: due so long after the epoch, then so long after the end of each run.

use super::ScheduleError;
use crate::Span;
use evidence::Timestamp;

/// A distance from the end of one run to the next planned time.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    first: Timestamp,
    delay: Span,
}

impl Delay {
    pub(super) fn compile(delay: Span, epoch: Timestamp) -> Result<Self, ScheduleError> {
        if delay == Span::ZERO {
            return Err(ScheduleError::Zero { field: "delay" });
        }
        Ok(Delay {
            first: epoch.plus_ms(delay.as_i64()),
            delay,
        })
    }

    pub(super) fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        (after < self.first).then_some(self.first)
    }

    pub(super) fn next_after_completion(&self, done: Timestamp) -> Timestamp {
        done.plus_ms(self.delay.as_i64())
    }
}
