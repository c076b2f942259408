//! What an executor does with what it is asked: answers, and works on the calls it takes, one after
//! the other for each timer (XXL-JOB's job thread).

use super::RoutedConfig;
use super::block::{BlockStrategy, Jobs, Taken};
use super::caller::FAILED;
use crate::cancelling::Limits;
use crate::dispatch::failed;
use crate::executor::{BUSY_RETRY, Executor};
use crate::guards::Settle;
use crate::permits::Permits;
use crate::ports::{Ask, Asked, At, Condition, Expr, Said, Statement, Wake};
use crate::race::{self, First};
use crate::signal::Signal;
use crate::tables::{CALLS, calls};
use crate::{Span, backoff, marks, steps};
use evidence::{Ids, TimerId, What};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long an executor waits before it repeats a report that did not get through. Source:
/// XXL-JOB's callback thread, 30 s (RegistryConfig.BEAT_TIMEOUT). Its file of reports that outlives
/// a restart is not here.
const REPORT_AGAIN: Span = Span::secs(30);

/// [`calls::RESULT`]: the run ended well.
const SUCCEEDED: i64 = 1;

/// What an executor has been asked to do.
struct Inbox {
    executor: Arc<Executor>,
    block: BlockStrategy,
    timeout: Option<Span>,
    pool: Permits,
    jobs: Mutex<Jobs>,
}

/// Starts it.
pub(super) fn start(executor: &Arc<Executor>, config: &RoutedConfig, concurrency: u16) {
    let inbox = Arc::new(Inbox {
        executor: executor.clone(),
        block: config.block,
        timeout: config.timeout.0,
        pool: Permits::new(concurrency),
        jobs: Mutex::default(),
    });
    let runtime = executor.ports().runtime.clone();
    runtime.spawn(Box::pin(inbox.answer_all()));
}

impl Inbox {
    /// Answers until the instance stops.
    async fn answer_all(self: Arc<Self>) {
        let ports = self.executor.ports();
        while !ports.runtime.stopping() {
            let next = race::first(ports.executors.next(), ports.runtime.stop_requested());
            match next.await {
                First::Left(asked) => self.answer(asked).await,
                First::Right(()) => return,
            }
        }
    }

    async fn answer(self: &Arc<Self>, asked: Asked) {
        let executors = &self.executor.ports().executors;
        match asked.ask {
            Ask::Beat => executors.say(asked.asking, Said::Yes),
            Ask::Idle(timer) => {
                let idle = self.jobs().is_idle(&timer);
                executors.say(asked.asking, if idle { Said::Yes } else { Said::Busy });
            }
            Ask::Run(call) => {
                let taken = Taken {
                    call,
                    delivery: asked.delivery,
                    asking: asked.asking,
                };
                self.take(taken).await;
            }
        }
    }

    async fn take(self: &Arc<Self>, taken: Taken) {
        let ports = self.executor.ports();
        let ids = ids_of(&taken);
        let at = At::new(&steps::EXECUTOR_ACCEPT, &ids);
        ports.runtime.pass(at).await;
        let timer = taken.call.envelope.run.timer_id();
        let asking = taken.asking;
        let taking = self.jobs().take(self.block, timer.clone(), taken);
        ports.executors.say(asking, taking.said);
        if taking.said == Said::Discarded {
            ports.journal.mark(&marks::CALL_DISCARDED);
            ports.journal.record(at, What::SkippedByPolicy);
        }
        for dropped in taking.dropped {
            let ids = ids_of(&dropped);
            let at = At::new(&steps::EXECUTOR_ACCEPT, &ids);
            ports.journal.record(at, What::SkippedByPolicy);
            ports.executors.over(dropped.asking);
            self.report(&dropped, false);
        }
        if taking.begins {
            ports.runtime.spawn(Box::pin(self.clone().work(timer)));
        }
    }

    /// Works on the calls of a timer until none is left. What waits when the instance is asked to
    /// stop is lost with its memory.
    async fn work(self: Arc<Self>, timer: TimerId) {
        let ports = self.executor.ports();
        while !ports.runtime.stopping() {
            let Some((taken, covered)) = self.jobs().next(&timer) else {
                return;
            };
            let permit = self.pool.acquire().await;
            let succeeded = self.execute(&ids_of(&taken), &covered).await;
            drop(permit);
            ports.executors.over(taken.asking);
            self.report(&taken, succeeded);
        }
    }

    /// True if the run is done, as far as its guard can tell. What the guard puts off is slept
    /// through here: there is no queue to give it back to.
    async fn execute(&self, ids: &Ids, covered: &Signal) -> bool {
        let limits = Limits {
            timeout: self.timeout,
            // What nothing can cover is not watched over.
            covered: (self.block == BlockStrategy::CoverEarly).then_some(covered),
        };
        loop {
            match self.executor.execute(ids, limits).await {
                Some(Settle::Defer(delay)) if !covered.is_given() => {
                    let runtime = &*self.executor.ports().runtime;
                    let delay = delay.max(BUSY_RETRY);
                    if backoff::sleep_or_stop(runtime, delay).await == Wake::Stop {
                        return false;
                    }
                }
                Some(Settle::Ack) => return true,
                Some(Settle::Defer(_) | Settle::Reject) | None => return false,
            }
        }
    }

    /// Writes down how a call ended, again and again until it is written.
    fn report(&self, taken: &Taken, succeeded: bool) {
        let ports = self.executor.ports().clone();
        let (ids, row) = (ids_of(taken), taken.call.row.clone());
        let result = if succeeded { SUCCEEDED } else { FAILED };
        let runtime = ports.runtime.clone();
        runtime.spawn(Box::pin(async move {
            let at = At::new(&steps::EXECUTOR_REPORT, &ids);
            loop {
                let statements = vec![Statement::Update {
                    table: CALLS,
                    key: row.clone(),
                    when: Condition::always(),
                    set: vec![(calls::RESULT, Expr::from(result))],
                    required: false,
                }];
                match ports.database.execute(at, statements).await {
                    Ok(_) => return,
                    Err(error) => ports.journal.record(at, failed(error)),
                }
                if backoff::sleep_or_stop(&*ports.runtime, REPORT_AGAIN).await == Wake::Stop {
                    return;
                }
            }
        }));
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ids_of(taken: &Taken) -> Ids {
    let envelope = &taken.call.envelope;
    Ids {
        slot: envelope.slot,
        run: Some(envelope.run.clone()),
        message: Some(taken.call.message),
        trace: Some(envelope.trace),
        delivery: taken.delivery,
        attempt: 0,
    }
}
