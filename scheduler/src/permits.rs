//! The pool of an instance: so many runs at once, the rest waits its turn.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A counting semaphore, first come first served.
pub(crate) struct Permits(Mutex<State>);

struct State {
    free: u16,
    waiting: VecDeque<(u64, Waker)>,
    next_ticket: u64,
}

impl Permits {
    /// So many at once.
    pub(crate) fn new(free: u16) -> Self {
        Permits(Mutex::new(State {
            free,
            waiting: VecDeque::new(),
            next_ticket: 0,
        }))
    }

    /// Waits for a permit; it is given back when dropped.
    pub(crate) fn acquire(&self) -> Acquire<'_> {
        Acquire {
            permits: self,
            ticket: None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a permit.
pub(crate) struct Acquire<'a> {
    permits: &'a Permits,
    ticket: Option<u64>,
}

/// A permit.
pub(crate) struct Held<'a>(&'a Permits);

impl<'a> Future for Acquire<'a> {
    type Output = Held<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Held<'a>> {
        let permits = self.permits;
        let mut state = permits.state();
        let first = state.waiting.front().map(|(ticket, _)| *ticket);
        if state.free > 0 && (first.is_none() || first == self.ticket) {
            state.free -= 1;
            if self.ticket.take().is_some() {
                state.waiting.pop_front();
            }
            return Poll::Ready(Held(permits));
        }
        match self.ticket {
            Some(ticket) => {
                if let Some(entry) = state.waiting.iter_mut().find(|entry| entry.0 == ticket) {
                    entry.1.clone_from(cx.waker());
                }
            }
            None => {
                let ticket = state.next_ticket;
                state.next_ticket += 1;
                state.waiting.push_back((ticket, cx.waker().clone()));
                self.ticket = Some(ticket);
            }
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.permits
                .state()
                .waiting
                .retain(|entry| entry.0 != ticket);
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.free += 1;
        if let Some((_, waker)) = state.waiting.front() {
            waker.wake_by_ref();
        }
    }
}
