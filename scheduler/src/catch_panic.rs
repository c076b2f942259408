//! A handler's panic ends its attempt, not the process.

use crate::ports::Fut;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Says that the future panicked.
pub(crate) struct Panicked;

/// Calls a function and turns a panic of it into a value.
pub(crate) fn catching<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| Panicked)
}

/// Runs a future and turns a panic of it into a value.
pub(crate) struct CatchPanic<'a, T>(pub(crate) Fut<'a, T>);

impl<T> Future for CatchPanic<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = &mut self.get_mut().0;
        match catching(|| future.as_mut().poll(cx)) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}
