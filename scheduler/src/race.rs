//! Two futures, whichever is first; always asked in the same order, so that a tie has one outcome.

use crate::ports::Fut;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Which of the two was first.
pub(crate) enum First<L, R> {
    /// The one named first, also when both were ready.
    Left(L),
    /// The other.
    Right(R),
}

/// Runs both until one is done; drops the other.
pub(crate) fn first<'a, L, R>(left: Fut<'a, L>, right: Fut<'a, R>) -> Race<'a, L, R> {
    Race { left, right }
}

/// See [`first`].
pub(crate) struct Race<'a, L, R> {
    left: Fut<'a, L>,
    right: Fut<'a, R>,
}

impl<L, R> Future for Race<'_, L, R> {
    type Output = First<L, R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Poll::Ready(left) = this.left.as_mut().poll(cx) {
            return Poll::Ready(First::Left(left));
        }
        this.right.as_mut().poll(cx).map(First::Right)
    }
}

/// Runs `main` to its end and `beside` for as long as `main` lasts.
pub(crate) fn beside<'a, T>(main: Fut<'a, T>, beside: Fut<'a, ()>) -> Beside<'a, T> {
    Beside {
        main,
        beside: Some(beside),
    }
}

/// See [`beside`].
pub(crate) struct Beside<'a, T> {
    main: Fut<'a, T>,
    beside: Option<Fut<'a, ()>>,
}

impl<T> Future for Beside<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = self.get_mut();
        if let Poll::Ready(done) = this.main.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        if let Some(beside) = &mut this.beside
            && beside.as_mut().poll(cx).is_ready()
        {
            this.beside = None;
        }
        Poll::Pending
    }
}
