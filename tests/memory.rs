//! Memory stays where it is, however many executions one process does; the full million is
//! `cargo run --release --example memory`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "../examples/memory.rs"]
#[allow(dead_code, reason = "the example's own main")]
mod million;

use million::{GROWTH_MAX, WARM, Walk, recommended, resident};
use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::Fut;
use sim::Parts;
use std::sync::Arc;

/// A handler of the test's own: its executions have a thread each.
struct Own;

impl Handler for Own {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move { Ok(ctx.perform().await?) })
    }
}

#[test]
fn a_process_holds_no_more_after_many_executions_than_after_the_first() {
    let own = Parts {
        handler: Some(Arc::new(|_| Box::new(Own))),
        ..Parts::default()
    };
    for (parts, warm_up, more) in [(Parts::default(), WARM, 40_000), (own, 2_000, 6_000)] {
        let mut walk = Walk::new(&recommended().unwrap(), parts).unwrap();
        walk.go_on_to(warm_up).unwrap();
        let warm = resident().unwrap();
        walk.go_on_to(warm_up + more).unwrap();
        let grown = resident().unwrap() - warm;
        assert!(grown <= GROWTH_MAX, "grown by {grown} bytes");
    }
}
