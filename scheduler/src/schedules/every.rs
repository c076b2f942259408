//! `every`: due at epoch + phase, and from there on at equal distances.

use super::ScheduleError;
use crate::Span;
use evidence::Timestamp;

/// Equal distances from a first time.
#[derive(Clone, Debug)]
pub(super) struct Every {
    first: Timestamp,
    every: Span,
}

impl Every {
    pub(super) fn compile(
        every: Span,
        phase: Span,
        epoch: Timestamp,
    ) -> Result<Self, ScheduleError> {
        if every == Span::ZERO {
            return Err(ScheduleError::Zero { field: "every" });
        }
        Ok(Every {
            first: epoch.plus_ms(phase.as_i64()),
            every,
        })
    }

    pub(super) fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        if after < self.first {
            return Some(self.first);
        }
        let every = self.every.as_i64();
        let passed = after.0.checked_sub(self.first.0)? / every;
        let due = passed
            .checked_add(1)?
            .checked_mul(every)?
            .checked_add(self.first.0)?;
        Some(Timestamp(due))
    }
}
