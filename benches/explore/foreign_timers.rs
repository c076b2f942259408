//! A user's handler that waits by madsim-tokio's timers instead of its `Ctx`'s.
//!
//! While such a timer is armed the simulator may not skip ahead: it sleeps through madsim from one
//! event to the next. This is what that costs.

use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::Fut;
use sim::Parts;
use std::sync::Arc;
use std::time::Duration;

/// Works 20 ms, then makes the effect under a timeout of its own.
struct WaitsByTokio;

impl Handler for WaitsByTokio {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            madsim_tokio::time::sleep(Duration::from_millis(20)).await;
            match madsim_tokio::time::timeout(Duration::from_secs(10), ctx.perform()).await {
                Ok(performed) => Ok(performed?),
                Err(_) => Err(HandlerError::Retryable("too late".to_owned())),
            }
        })
    }
}

/// The scenario's parts, with this handler.
pub fn parts() -> Parts {
    Parts {
        handler: Some(Arc::new(|_| Box::new(WaitsByTokio))),
        ..Parts::default()
    }
}
