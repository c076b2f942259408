//! `a failure is not the end`: a run whose attempt failed is tried again.
//!
//! The first attempt fails and says that another may help; processes die while the run waits for it.

use super::law::{Law, never_done};
use scenarios::spec::FaultKind;
use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::Fut;

pub(super) static LAW: Law = Law {
    name: "a failure is not the end",
    about: "a run whose attempt failed is tried again",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'a-failure-is-not-the-end'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [topology]
        kind = 'queued'
        schedulers = 1
        executors = 2
        [downstream]
        protection = { kind = 'idempotency_key' }
    ",
    handler: Some(|| Box::new(FailsOnce)),
    kinds: &[FaultKind::LoseRequest, FaultKind::Crash],
    faults: 1,
    breach: never_done,
};

/// Fails in the first attempt of the first delivery.
struct FailsOnce;

impl Handler for FailsOnce {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            match (ctx.attempt(), ctx.ids().delivery) {
                (1, 1) => Err(HandlerError::Retryable("not yet".to_owned())),
                _ => Ok(ctx.perform().await?),
            }
        })
    }
}
