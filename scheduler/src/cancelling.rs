//! Work that may be cancelled: because its time is up, because a newer call of its timer covers it,
//! or because the guard's hold was lost.
//!
//! A cancelled handler is dropped where it stands. With `[work] ignores_cancel` it is not: it goes
//! on in a task of its own, and makes its effect all the same, as a thread does that never looks at
//! its interrupt flag.

use crate::executor::{Executor, Worked};
use crate::guards::{OnLost, Permit, Visit};
use crate::ports::{Fut, Key, Runtime};
use crate::race::{self, First};
use crate::signal::Signal;
use crate::{Span, marks};
use evidence::Ids;
use std::sync::{Arc, Mutex, PoisonError};

/// How long the work of one call may go on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits<'a> {
    /// An attempt is cancelled after so long.
    pub(crate) timeout: Option<Span>,
    /// Given when the call is covered by a newer one.
    pub(crate) covered: Option<&'a Signal>,
}

impl Limits<'_> {
    /// Nobody cancels it.
    pub(crate) const NONE: Limits<'static> = Limits {
        timeout: None,
        covered: None,
    };

    const fn any(&self) -> bool {
        self.timeout.is_some() || self.covered.is_some()
    }

    /// Ends when the work has to stop; true if its time is up.
    async fn over(self, runtime: &dyn Runtime) -> bool {
        let timeout = async {
            match self.timeout {
                Some(timeout) => runtime.sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        let covered = async {
            match self.covered {
                Some(covered) => covered.wait().await,
                None => std::future::pending().await,
            }
        };
        matches!(
            race::first(Box::pin(timeout), Box::pin(covered)).await,
            First::Left(())
        )
    }
}

/// Where work that goes on by itself leaves how it ended.
#[derive(Default)]
struct Ending {
    worked: Mutex<Option<Worked>>,
    there: Signal,
}

impl Executor {
    /// Whether an attempt needs more than to be waited for.
    pub(crate) fn may_be_cancelled(&self, limits: Limits<'_>) -> bool {
        limits.any() || (self.work.ignores_cancel && self.on_lost == OnLost::Cancel)
    }

    /// One attempt of the handler, until it ends or has to stop.
    pub(crate) async fn work_within(
        &self,
        visit: Visit<'_>,
        permit: &Permit,
        limits: Limits<'_>,
    ) -> Worked {
        let work: Fut<'_, Worked> = match self.work.ignores_cancel {
            true => Box::pin(self.work_apart(visit, permit)),
            false => Box::pin(self.attempt(visit, permit)),
        };
        let held: Fut<'_, Worked> = match (self.guard.hold(visit, permit), self.on_lost) {
            (None, _) => work,
            (Some(hold), OnLost::Continue) => Box::pin(race::beside(work, hold)),
            (Some(hold), OnLost::Cancel) => Box::pin(async {
                match race::first(work, hold).await {
                    First::Left(worked) => worked,
                    First::Right(()) => Worked::Cancelled,
                }
            }),
        };
        let over = Box::pin(limits.over(&*self.ports().runtime));
        let worked = match race::first(held, over).await {
            First::Left(worked) => worked,
            First::Right(timed_out) => {
                let mark = match timed_out {
                    true => &marks::ATTEMPT_TIMED_OUT,
                    false => &marks::CALL_COVERED,
                };
                self.ports().journal.mark(mark);
                Worked::Stopped
            }
        };
        if self.work.ignores_cancel && matches!(worked, Worked::Stopped | Worked::Cancelled) {
            self.ports().journal.mark(&marks::CANCEL_IGNORED);
        }
        worked
    }

    /// The handler in a task of its own, which nobody's end ends.
    async fn work_apart(&self, visit: Visit<'_>, permit: &Permit) -> Worked {
        let Some(executor) = self.itself.upgrade() else {
            return self.attempt(visit, permit).await;
        };
        let ending = Arc::<Ending>::default();
        let (ids, key, token) = (visit.ids.clone(), visit.key.clone(), visit.token);
        let apart = executor.carry_on(ids, key, token, permit.clone(), ending.clone());
        self.ports().runtime.spawn(Box::pin(apart));
        ending.there.wait().await;
        let worked = ending
            .worked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        worked.unwrap_or(Worked::Panicked)
    }

    async fn carry_on(
        self: Arc<Self>,
        ids: Ids,
        key: Key,
        token: u64,
        permit: Permit,
        ending: Arc<Ending>,
    ) {
        let visit = Visit {
            ids: &ids,
            key: &key,
            token,
        };
        let worked = self.attempt(visit, &permit).await;
        *ending.worked.lock().unwrap_or_else(PoisonError::into_inner) = Some(worked);
        ending.there.give();
    }
}
