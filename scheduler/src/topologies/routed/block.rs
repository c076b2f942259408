//! Block strategies: what an executor does with a call of a timer that it has at work or waiting.
//!
//! Its memory is its own: two calls of one run that come to two executors do not see each other.
//! Source: ExecutorBizImpl.run and JobThread.

use crate::ports::{Asking, Call, Said};
use crate::signal::Signal;
use evidence::TimerId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// `[topology] block`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockStrategy {
    /// It waits its turn.
    #[default]
    Serial,
    /// It is dropped, and the admin is told so: a failed call.
    DiscardLater,
    /// What is at work is cancelled, what waits is dropped, and the new one runs.
    CoverEarly,
}

impl BlockStrategy {
    /// As written in files.
    pub const fn name(self) -> &'static str {
        match self {
            BlockStrategy::Serial => "serial",
            BlockStrategy::DiscardLater => "discard_later",
            BlockStrategy::CoverEarly => "cover_early",
        }
    }
}

/// A call that was taken.
#[derive(Clone)]
pub(super) struct Taken {
    pub(super) call: Call,
    pub(super) delivery: u32,
    pub(super) asking: Asking,
}

/// The calls of one timer.
#[derive(Default)]
struct Job {
    waiting: VecDeque<Taken>,
    /// Cancels what is at work.
    at_work: Option<Arc<Signal>>,
}

/// What an executor has taken, by timer.
#[derive(Default)]
pub(super) struct Jobs {
    by_timer: BTreeMap<TimerId, Job>,
}

/// What follows from a call.
pub(super) struct Taking {
    /// What the admin is told.
    pub(super) said: Said,
    /// Whether nobody works on the timer yet.
    pub(super) begins: bool,
    /// Calls that were dropped for it.
    pub(super) dropped: Vec<Taken>,
}

impl Taking {
    fn refused(said: Said) -> Self {
        Taking {
            said,
            begins: false,
            dropped: Vec::new(),
        }
    }
}

impl Jobs {
    /// Whether nothing of the timer is at work or waits.
    pub(super) fn is_idle(&self, timer: &TimerId) -> bool {
        !self.by_timer.contains_key(timer)
    }

    /// A call comes in.
    pub(super) fn take(&mut self, block: BlockStrategy, timer: TimerId, taken: Taken) -> Taking {
        let begins = self.is_idle(&timer);
        let job = self.by_timer.entry(timer).or_default();
        let mut dropped = Vec::new();
        match block {
            BlockStrategy::DiscardLater if !begins => return Taking::refused(Said::Discarded),
            BlockStrategy::CoverEarly if !begins => {
                dropped.extend(job.waiting.drain(..));
                job.at_work.iter().for_each(|at_work| at_work.give());
            }
            _ => {}
        }
        // XXL-JOB knows the calls that wait by their logId, and forgets one when its turn comes.
        if job
            .waiting
            .iter()
            .any(|known| known.call.row == taken.call.row)
        {
            return Taking::refused(Said::Repeated);
        }
        job.waiting.push_back(taken);
        Taking {
            said: Said::Yes,
            begins,
            dropped,
        }
    }

    /// The next call of the timer, and what cancels it; `None`: the timer is idle from now on.
    pub(super) fn next(&mut self, timer: &TimerId) -> Option<(Taken, Arc<Signal>)> {
        let job = self.by_timer.get_mut(timer)?;
        match job.waiting.pop_front() {
            Some(taken) => {
                let covered = Arc::<Signal>::default();
                job.at_work = Some(covered.clone());
                Some((taken, covered))
            }
            None => {
                self.by_timer.remove(timer);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::Envelope;
    use evidence::{MessageId, RunKey, SlotTag, Timestamp, TraceId};

    fn timer() -> TimerId {
        TimerId::new("report")
    }

    fn taken(n: u32) -> Taken {
        let run = RunKey::new(&timer(), Timestamp(0));
        Taken {
            call: Call {
                envelope: Envelope {
                    run: run.unwrap_or_else(|error| panic!("{error}")),
                    trace: TraceId(1),
                    slot: SlotTag::default(),
                    dedup_id: None,
                },
                row: Arc::from(format!("row-{n}")),
                message: MessageId(n),
            },
            delivery: 1,
            asking: Asking(n),
        }
    }

    fn take(jobs: &mut Jobs, block: BlockStrategy, n: u32) -> (Said, bool, Vec<u32>) {
        let taking = jobs.take(block, timer(), taken(n));
        let dropped = taking.dropped.iter().map(|taken| taken.asking.0);
        (taking.said, taking.begins, dropped.collect())
    }

    fn next(jobs: &mut Jobs) -> Option<(u32, Arc<Signal>)> {
        let (taken, covered) = jobs.next(&timer())?;
        Some((taken.asking.0, covered))
    }

    #[test]
    fn serial_keeps_what_comes_in_its_order() {
        let (mut jobs, block) = (Jobs::default(), BlockStrategy::Serial);
        assert_eq!(take(&mut jobs, block, 1), (Said::Yes, true, vec![]));
        assert_eq!(next(&mut jobs).map(|next| next.0), Some(1));
        assert_eq!(take(&mut jobs, block, 2), (Said::Yes, false, vec![]));
        assert_eq!(take(&mut jobs, block, 3), (Said::Yes, false, vec![]));
        assert_eq!(next(&mut jobs).map(|next| next.0), Some(2));
        assert_eq!(next(&mut jobs).map(|next| next.0), Some(3));
        assert!(next(&mut jobs).is_none());
        assert!(jobs.is_idle(&timer()));
    }

    #[test]
    fn discard_later_drops_what_comes_while_the_timer_is_at_work() {
        let (mut jobs, block) = (Jobs::default(), BlockStrategy::DiscardLater);
        assert_eq!(take(&mut jobs, block, 1), (Said::Yes, true, vec![]));
        assert_eq!(take(&mut jobs, block, 2).0, Said::Discarded);
        assert_eq!(next(&mut jobs).map(|next| next.0), Some(1));
        assert_eq!(take(&mut jobs, block, 3).0, Said::Discarded);
        assert!(next(&mut jobs).is_none());
        assert_eq!(take(&mut jobs, block, 4), (Said::Yes, true, vec![]));
    }

    #[test]
    fn cover_early_cancels_what_is_at_work_and_drops_what_waits() {
        let (mut jobs, block) = (Jobs::default(), BlockStrategy::CoverEarly);
        take(&mut jobs, block, 1);
        let covered = next(&mut jobs).map(|next| next.1);
        assert_eq!(take(&mut jobs, block, 2), (Said::Yes, false, vec![]));
        assert!(covered.is_some_and(|covered| covered.is_given()));
        assert_eq!(take(&mut jobs, block, 3), (Said::Yes, false, vec![2]));
        let (third, covered) = next(&mut jobs).unwrap_or_else(|| panic!("nothing waits"));
        assert_eq!(third, 3);
        assert!(!covered.is_given());
    }

    #[test]
    fn a_call_that_waits_is_recognised_and_one_at_work_is_not() {
        let (mut jobs, block) = (Jobs::default(), BlockStrategy::Serial);
        take(&mut jobs, block, 1);
        assert_eq!(take(&mut jobs, block, 1).0, Said::Repeated);
        next(&mut jobs);
        assert_eq!(take(&mut jobs, block, 1).0, Said::Yes);
    }
}
