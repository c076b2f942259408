//! Waiting between two tries of a call that must succeed in the end.

use crate::Span;
use crate::ports::{Runtime, Wake};
use crate::work::RetryConfig;

/// Sleeps after the `failures`-th failure in a row, or until the instance is asked to stop.
pub(crate) async fn pause(runtime: &dyn Runtime, retry: &RetryConfig, failures: u32) -> Wake {
    sleep_or_stop(runtime, retry.backoff_after(failures)).await
}

/// Sleeps so long, or until the instance is asked to stop.
pub(crate) async fn sleep_or_stop(runtime: &dyn Runtime, span: Span) -> Wake {
    if runtime.stopping() {
        return Wake::Stop;
    }
    match crate::race::first(runtime.sleep(span), runtime.stop_requested()).await {
        crate::race::First::Left(()) => Wake::Poll,
        crate::race::First::Right(()) => Wake::Stop,
    }
}
