//! A handler may wait for several things at once, by whatever means it likes.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use runkey_sim::{Parts, Setup, run};
use scenarios::Scenario;
use scenarios::spec::Plan;
use scheduler::Span;
use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::Fut;
use std::sync::Arc;

/// Sleeps thrice at once, in a set that polls only what its own wakers name; then makes its effect
/// inside such a set.
struct SleepsInASet;

impl Handler for SleepsInASet {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            let started = ctx.now();
            let mut sleeps: FuturesUnordered<_> = [2, 1, 3]
                .map(|s| ctx.sleep(Span::secs(s)))
                .into_iter()
                .collect();
            while sleeps.next().await.is_some() {}
            assert_eq!(ctx.now().ms_since(started), 3000);
            let mut effects: FuturesUnordered<_> = [ctx.perform()].into_iter().collect();
            while let Some(effect) = effects.next().await {
                effect?;
            }
            Ok(())
        })
    }
}

#[test]
fn a_set_of_futures_is_woken_for_each_of_them() {
    let scenario = Scenario::parse("timer = [{ id = 'report', slots = 1 }]", "sets.toml").unwrap();
    let parts = Parts {
        handler: Some(Arc::new(|_| Box::new(SleepsInASet))),
        ..Parts::default()
    };
    let setup = Setup::new(&scenario, parts).unwrap();
    let outcome = run(&setup, 1, &Plan::empty());
    assert_eq!(outcome.judgement.verdict, Verdict::ExactlyOnce);
}
