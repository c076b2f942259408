//! A signal that is given once, to whoever waits for it in the same process.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Given, or not yet.
#[derive(Default)]
pub(crate) struct Signal(Mutex<State>);

#[derive(Default)]
struct State {
    given: bool,
    waiting: Vec<Waker>,
}

impl Signal {
    /// Gives it; once given it stays so.
    pub(crate) fn give(&self) {
        let waiting = {
            let mut state = self.state();
            state.given = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Whether it was given.
    pub(crate) fn is_given(&self) -> bool {
        self.state().given
    }

    /// Waits until it is given.
    pub(crate) fn wait(&self) -> Given<'_> {
        Given(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Signal::wait`].
pub(crate) struct Given<'a>(&'a Signal);

impl Future for Given<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.state();
        if state.given {
            return Poll::Ready(());
        }
        if !state
            .waiting
            .iter()
            .any(|waker| waker.will_wake(cx.waker()))
        {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::block_on;

    #[test]
    fn a_signal_that_was_given_keeps_nobody_waiting() {
        let signal = Signal::default();
        assert!(!signal.is_given());
        signal.give();
        block_on(signal.wait());
        assert!(signal.is_given());
    }
}
