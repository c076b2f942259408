//! The executor: one delivery after the other, asks the guard, does the work, records, settles.

use crate::cancelling::Limits;
use crate::catch_panic::{CatchPanic, catching};
use crate::dispatch::failed;
use crate::effects::{EffectError, Protection};
use crate::guards::{BusyPolicy, Entry, Guard, OnLost, Outcome, Permit, Retries, Settle, Visit};
use crate::handler::{Ctx, Handler, HandlerError};
use crate::marks::Mark;
use crate::ports::{At, CallError, Delivery, Ports, Settled, Wake};
use crate::race::{self, First};
use crate::weakness::Weakness;
use crate::work::{AckWhen, FailureClass, WorkConfig};
use crate::{IdentityKey, Instance, Span, backoff, marks, steps};
use evidence::{AttemptEnd, Ids, Step, What};
use std::sync::{Arc, Weak};

/// How long a busy run is left alone when its guard cannot say how long it will be busy.
pub const BUSY_RETRY: Span = Span::secs(1);

/// Executes runs in one incarnation of one instance.
pub struct Executor {
    pub(crate) instance: Instance,
    pub(crate) guard: Box<dyn Guard>,
    pub(crate) handler: Box<dyn Handler>,
    pub(crate) protection: Box<dyn Protection>,
    pub(crate) work: WorkConfig,
    pub(crate) identity: IdentityKey,
    pub(crate) busy: BusyPolicy,
    pub(crate) on_lost: OnLost,
    /// Whether runs may come before their planned time, to be held until then.
    pub(crate) holds: bool,
    /// For work that outlives whoever waits for it.
    pub(crate) itself: Weak<Executor>,
}

/// How an attempt's work ended.
pub(crate) enum Worked {
    Ended(Result<(), HandlerError>),
    Panicked,
    /// The guard's hold was lost.
    Cancelled,
    /// Its time was up, or a newer call covers it.
    Stopped,
}

impl Executor {
    /// Takes deliveries until the instance stops.
    pub async fn consume(self: Arc<Self>) {
        let ports = &self.instance.ports;
        let deliver = ports.broker.steps().deliver;
        let mut failures = 0;
        while !ports.runtime.stopping() {
            // Carried by the call, so that nothing that decides later is in this loop's memory alone.
            let nobody = Ids {
                attempt: failures,
                ..Ids::default()
            };
            let at = At::new(deliver, &nobody);
            let next = race::first(ports.broker.deliver(at), ports.runtime.stop_requested());
            match next.await {
                First::Left(Ok(delivery)) => {
                    failures = 0;
                    match self.until_due(&delivery) {
                        Some(wait) => self.clone().hold(delivery, wait),
                        None => self.deliver(delivery).await,
                    }
                    if ports.runtime.stopping() {
                        self.mark(&marks::DRAINED);
                    }
                }
                First::Left(Err(error)) => {
                    ports.journal.record(at, failed(error));
                    self.mark(&marks::DELIVER_FAILED);
                    if ports.weak(Weakness::ConsumerEnds) {
                        return;
                    }
                    failures += 1;
                    if backoff::pause(&*ports.runtime, &self.work.retry, failures).await
                        == Wake::Stop
                    {
                        return;
                    }
                }
                First::Right(()) => return,
            }
        }
    }

    /// One delivery, from the guard to the ack.
    pub(crate) async fn deliver(&self, delivery: Delivery) {
        let ids = Ids {
            slot: delivery.envelope.slot,
            run: Some(delivery.envelope.run.clone()),
            message: Some(delivery.message),
            trace: Some(delivery.envelope.trace),
            delivery: delivery.count,
            attempt: 0,
        };
        if self.work.ack == AckWhen::Before || self.weak(Weakness::AckBeforeWork) {
            self.settle(&ids, &delivery, Settle::Ack).await;
            self.execute(&ids, Limits::NONE).await;
            return;
        }
        let execute = Box::pin(self.execute(&ids, Limits::NONE));
        let settle = match self.instance.ports.broker.renew_every() {
            Some(_) if self.weak(Weakness::DeliveryNotRenewed) => execute.await,
            None => execute.await,
            Some(every) => {
                race::beside(execute, Box::pin(self.renew(&ids, &delivery, every))).await
            }
        };
        if let Some(settle) = settle {
            self.settle(&ids, &delivery, settle).await;
        }
    }

    async fn renew(&self, ids: &Ids, delivery: &Delivery, every: Span) {
        let ports = &self.instance.ports;
        let at = At::new(ports.broker.steps().renew, ids);
        loop {
            ports.runtime.sleep(every).await;
            match ports.broker.renew(at, delivery.receipt).await {
                Ok(_) => self.mark(&marks::DELIVERY_RENEWED),
                Err(error) => ports.journal.record(at, failed(error)),
            }
        }
    }

    /// Settles once: what goes wrong here is for the broker's deadline to mend.
    async fn settle(&self, ids: &Ids, delivery: &Delivery, settle: Settle) {
        let ports = &self.instance.ports;
        let steps = ports.broker.steps();
        let (step, call): (&'static Step, _) = match settle {
            Settle::Ack => {
                let step = steps.ack;
                (step, ports.broker.ack(At::new(step, ids), delivery.receipt))
            }
            Settle::Reject => {
                self.mark(&marks::REJECTED);
                let step = steps.reject;
                (
                    step,
                    ports.broker.reject(At::new(step, ids), delivery.receipt),
                )
            }
            Settle::Defer(_) if self.weak(Weakness::DeferralIsAcked) => {
                let step = steps.ack;
                (step, ports.broker.ack(At::new(step, ids), delivery.receipt))
            }
            Settle::Defer(delay) => {
                let step = steps.defer;
                (
                    step,
                    ports
                        .broker
                        .defer(At::new(step, ids), delivery.receipt, delay),
                )
            }
        };
        match call.await {
            Ok(Settled::Accepted) => {}
            Ok(Settled::NotYours) => self.mark(&marks::SETTLED_TOO_LATE),
            Err(error) => ports.journal.record(At::new(step, ids), failed(error)),
        }
    }

    /// Executes a run where there is no broker: a deferral is slept through and tried again.
    pub(crate) async fn execute_here(&self, ids: &Ids) {
        loop {
            match self.execute(ids, Limits::NONE).await {
                Some(Settle::Defer(delay)) => {
                    let runtime = &*self.instance.ports.runtime;
                    if backoff::sleep_or_stop(runtime, delay.max(BUSY_RETRY)).await == Wake::Stop {
                        return;
                    }
                }
                Some(Settle::Reject) => {
                    self.tell(&steps::WORK, ids, What::Dropped);
                    return;
                }
                Some(Settle::Ack) | None => return,
            }
        }
    }

    /// From the guard to the record; `None`: the outcome could not be recorded, and the message
    /// is left to its deadline.
    pub(crate) async fn execute(&self, ids: &Ids, limits: Limits<'_>) -> Option<Settle> {
        let identity = match self.identity {
            _ if self.weak(Weakness::KeyOfMessage) => IdentityKey::MessageId,
            _ if self.weak(Weakness::KeyOfTimer) => IdentityKey::TimerId,
            identity => identity,
        };
        let key = identity.of(ids);
        let token = self.token(ids);
        let visit = Visit {
            ids,
            key: &key,
            token,
        };
        let mut failures = 0;
        loop {
            match self.guard.enter(visit).await {
                Ok(Entry::Run(permit)) => return self.attempts(visit, permit, limits).await,
                Ok(Entry::Done) if self.weak(Weakness::DoneIsNotAcked) => return None,
                Ok(Entry::Ignored) => return None,
                Ok(Entry::Done | Entry::Taken | Entry::GivenUp) => return Some(Settle::Ack),
                Ok(Entry::Busy { .. }) if self.weak(Weakness::BusyIsAcked) => {
                    return Some(Settle::Ack);
                }
                Ok(Entry::Busy { .. }) if self.weak(Weakness::BusyUsesUpDelivery) => return None,
                Ok(Entry::Busy { retry_in }) => {
                    let retry_in = retry_in.unwrap_or(BUSY_RETRY);
                    match self.busy {
                        BusyPolicy::Defer => {
                            self.mark(&marks::BUSY_DEFERRED);
                            return Some(Settle::Defer(retry_in));
                        }
                        BusyPolicy::Drop => {
                            self.mark(&marks::BUSY_DROPPED);
                            return Some(Settle::Ack);
                        }
                        BusyPolicy::Wait => self.instance.ports.runtime.sleep(retry_in).await,
                    }
                }
                Err(error) => {
                    self.tell(&steps::GUARD_ENTER, ids, failed(error));
                    if self.weak(Weakness::EnterErrorIsAcked) {
                        return Some(Settle::Ack);
                    }
                    failures += 1;
                    let wait = self.work.retry.backoff_after(failures);
                    if failures >= self.work.retry.max_attempts {
                        return Some(Settle::Defer(wait));
                    }
                    self.instance.ports.runtime.sleep(wait).await;
                    self.mark(&marks::ENTERED_AGAIN);
                }
            }
        }
    }

    /// What the guard tells owners by: each visit its own, unless instances bear names.
    fn token(&self, ids: &Ids) -> u64 {
        match self.instance.identity {
            Some(_) => self.instance.identity_number(),
            None => {
                let runtime = &self.instance.ports.runtime;
                runtime.random(At::new(&steps::GUARD_ENTER, ids))
            }
        }
    }

    async fn attempts(
        &self,
        visit: Visit<'_>,
        permit: Permit,
        limits: Limits<'_>,
    ) -> Option<Settle> {
        let mut ids = Ids {
            attempt: permit.attempt,
            ..visit.ids.clone()
        };
        loop {
            let mut here = Visit { ids: &ids, ..visit };
            let new = self
                .weak(Weakness::RetryWithNewKey)
                .then(|| format!("{}#{}", here.key, ids.attempt).into());
            here.key = new.as_ref().unwrap_or(visit.key);
            if self.weak(Weakness::FinishBeforeWork) {
                let _ = self.guard.finish(here, &permit, Outcome::Succeeded).await;
            }
            self.tell(&steps::WORK, &ids, What::AttemptStarted);
            let worked = self.work(here, &permit, limits).await;
            let end = attempt_end(&worked);
            if matches!(worked, Worked::Panicked) {
                self.tell(&steps::WORK, &ids, What::HandlerPanic);
            }
            self.tell(&steps::WORK, &ids, What::AttemptEnded(end));
            let outcome = self.outcome(&worked, ids.attempt);
            match outcome {
                Outcome::Retryable { retry_in, counts }
                    if self.guard.retries() == Retries::InPlace =>
                {
                    self.instance.ports.runtime.sleep(retry_in).await;
                    ids.attempt += u32::from(counts);
                    self.mark(&marks::RETRIED_IN_PLACE);
                }
                outcome => return self.finish(here, &permit, outcome).await,
            }
        }
    }

    /// One attempt of the handler, with whatever keeps its permit alive beside it.
    async fn work(&self, visit: Visit<'_>, permit: &Permit, limits: Limits<'_>) -> Worked {
        if self.may_be_cancelled(limits) {
            return Box::pin(self.work_within(visit, permit, limits)).await;
        }
        let work = Box::pin(self.attempt(visit, permit));
        match (self.guard.hold(visit, permit), self.on_lost) {
            (None, _) => work.await,
            (Some(hold), OnLost::Continue) => race::beside(work, hold).await,
            (Some(hold), OnLost::Cancel) => match race::first(work, hold).await {
                First::Left(ended) => ended,
                First::Right(()) => Worked::Cancelled,
            },
        }
    }

    /// One attempt of the handler, to its end.
    pub(crate) async fn attempt(&self, visit: Visit<'_>, permit: &Permit) -> Worked {
        let ctx = Ctx {
            ports: &self.instance.ports,
            ids: visit.ids,
            visit,
            permit,
            guard: &*self.guard,
            protection: &*self.protection,
            call_timeout: self.work.call_timeout,
        };
        let Ok(handling) = catching(|| self.handler.handle(&ctx)) else {
            return Worked::Panicked;
        };
        let ended = CatchPanic(handling).await;
        ended.map_or(Worked::Panicked, Worked::Ended)
    }

    fn outcome(&self, worked: &Worked, attempt: u32) -> Outcome {
        let retry = &self.work.retry;
        let (class, counts) = match worked {
            Worked::Ended(Ok(())) => return Outcome::Succeeded,
            Worked::Panicked
            | Worked::Ended(Err(
                HandlerError::Final(_) | HandlerError::Effect(EffectError::Mismatch),
            )) => return Outcome::Final,
            Worked::Cancelled
            | Worked::Ended(Err(HandlerError::Effect(EffectError::Superseded))) => {
                return Outcome::Cancelled;
            }
            Worked::Ended(Err(HandlerError::Effect(EffectError::Quarantined))) => {
                return Outcome::Quarantined;
            }
            Worked::Ended(Err(HandlerError::Effect(EffectError::Unknown)))
                if self.weak(Weakness::UnknownIsFinal) =>
            {
                return Outcome::Final;
            }
            Worked::Ended(Err(HandlerError::Effect(EffectError::InProgress)))
                if self.weak(Weakness::InProgressIsFinal) =>
            {
                return Outcome::Final;
            }
            Worked::Ended(Err(HandlerError::Effect(EffectError::Refused))) => {
                (FailureClass::Refused, true)
            }
            Worked::Ended(Err(HandlerError::Effect(EffectError::Unknown))) => {
                (FailureClass::Unknown, true)
            }
            Worked::Ended(Err(HandlerError::Effect(EffectError::InProgress))) => {
                (FailureClass::Unknown, false)
            }
            Worked::Ended(Err(HandlerError::Retryable(_))) => (FailureClass::Error, true),
            // Whoever stopped it decides what comes next, unless the guard keeps count of retries.
            Worked::Stopped if self.guard.retries() == Retries::InPlace => return Outcome::Final,
            Worked::Stopped => (FailureClass::Error, true),
        };
        if !retry.is_retryable(class) || (counts && attempt >= retry.max_attempts) {
            return Outcome::Final;
        }
        let retry_in = match self.weak(Weakness::NoBackoff) {
            true => Span::ZERO,
            false => retry.backoff_after(attempt),
        };
        Outcome::Retryable { retry_in, counts }
    }

    /// Records the outcome; tries again through errors, since an attempt that is not recorded is
    /// an attempt that will be made again.
    async fn finish(&self, visit: Visit<'_>, permit: &Permit, outcome: Outcome) -> Option<Settle> {
        let mut failures = 0;
        loop {
            match self.guard.finish(visit, permit, outcome).await {
                Ok(settle) => return Some(settle),
                Err(error) => self.finish_failed(visit.ids, error),
            }
            if self.weak(Weakness::FinishErrorIsAcked) {
                return Some(Settle::Ack);
            }
            failures += 1;
            if failures >= self.work.retry.max_attempts {
                return None;
            }
            self.instance
                .ports
                .runtime
                .sleep(self.work.retry.backoff_after(failures))
                .await;
            self.mark(&marks::FINISHED_AGAIN);
        }
    }

    fn finish_failed(&self, ids: &Ids, error: CallError) {
        self.tell(&steps::GUARD_FINISH, ids, failed(error));
    }

    fn tell(&self, step: &'static Step, ids: &Ids, what: What) {
        self.instance.ports.journal.record(At::new(step, ids), what);
    }

    fn weak(&self, weakness: Weakness) -> bool {
        self.instance.ports.weak(weakness)
    }

    fn mark(&self, mark: &'static Mark) {
        self.instance.ports.journal.mark(mark);
    }

    pub(crate) fn ports(&self) -> &Ports {
        &self.instance.ports
    }
}

fn attempt_end(worked: &Worked) -> AttemptEnd {
    match worked {
        Worked::Ended(Ok(())) => AttemptEnd::Succeeded,
        Worked::Panicked
        | Worked::Ended(Err(
            HandlerError::Final(_) | HandlerError::Effect(EffectError::Mismatch),
        )) => AttemptEnd::Final,
        Worked::Cancelled
        | Worked::Stopped
        | Worked::Ended(Err(HandlerError::Effect(EffectError::Superseded))) => {
            AttemptEnd::Cancelled
        }
        Worked::Ended(Err(HandlerError::Effect(
            EffectError::Unknown | EffectError::Quarantined | EffectError::InProgress,
        ))) => AttemptEnd::Unknown,
        Worked::Ended(Err(_)) => AttemptEnd::Retryable,
    }
}
