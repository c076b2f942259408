//! How a timer is doing: its last slot, how that ended, and its next slot.

use crate::dispatch::ordinal_from;
use crate::ports::At;
use crate::timer::Timer;
use evidence::{AttemptEnd, TimerId, Timestamp, What};
use std::collections::BTreeMap;

/// How one timer is doing, as far as one process has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The timer.
    pub timer: TimerId,
    /// The latest planned time that became a run, or whose run was executed; `None`: none was seen.
    pub last_slot: Option<Timestamp>,
    /// How the attempt that ended last ended; `None`: none was seen.
    pub last_outcome: Option<AttemptEnd>,
    /// The next planned time; `None` where there is none, or where it follows from the end of a run
    /// that has not ended yet.
    pub next_slot: Option<Timestamp>,
}

/// What was seen of every timer.
#[derive(Default)]
pub(super) struct Seen {
    timers: BTreeMap<TimerId, Last>,
}

#[derive(Default)]
struct Last {
    slot: Option<Timestamp>,
    outcome: Option<AttemptEnd>,
}

impl Seen {
    pub(super) fn happened(&mut self, at: At<'_>, what: &What) {
        let outcome = match what {
            What::Fired | What::AttemptStarted => None,
            What::AttemptEnded(end) => Some(*end),
            _ => return,
        };
        let Some(run) = &at.ids.run else { return };
        let last = self.timers.entry(run.timer_id()).or_default();
        last.slot = last.slot.max(Some(run.scheduled()));
        last.outcome = outcome.or(last.outcome);
    }

    pub(super) fn health(&self, timer: &Timer, now: Timestamp) -> Health {
        let last = self.timers.get(&timer.id);
        let next = timer.timetable.get(ordinal_from(&timer.timetable, now));
        Health {
            timer: timer.id.clone(),
            last_slot: last.and_then(|last| last.slot),
            last_outcome: last.and_then(|last| last.outcome),
            next_slot: next
                .map(|planned| planned.scheduled)
                .filter(|_| timer.delay.is_none()),
        }
    }
}
