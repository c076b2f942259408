//! A slot that has become a run, on its way to the queue.

use crate::ports::Envelope;
use evidence::{Ids, RunKey, TimerId, Timestamp, TraceId};

/// A slot that has become a run.
#[derive(Clone, Debug)]
pub struct Fire {
    /// The identifiers, trace included.
    pub ids: Ids,
    /// The run.
    pub run: RunKey,
    /// Its trace.
    pub trace: TraceId,
    /// The timer.
    pub timer: TimerId,
    /// The planned time.
    pub scheduled: Timestamp,
    /// What the timer's row says from now on of the slot after this one, where workers poll the
    /// rows of timers (see [`crate::tables::timers::NEXT`]).
    pub next: Option<i64>,
}

impl Fire {
    /// The trace as a database value.
    pub(crate) const fn trace_cell(&self) -> i64 {
        self.trace.0 as i64
    }

    /// What is published.
    pub(crate) fn envelope(&self) -> Envelope {
        Envelope {
            run: self.run.clone(),
            trace: self.trace,
            slot: self.ids.slot,
            dedup_id: Some(self.run.text().clone()),
        }
    }
}
