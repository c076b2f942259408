//! A runtime whose time is moved by hand, for tests.

use super::{ManualTime, lock};
use crate::Span;
use crate::ports::{At, Clock, Fut, Interest, Monotonic, Runtime, Wake};
use evidence::Timestamp;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Sleeps end, and spawned tasks go on, when a test calls [`ManualRuntime::advance`].
pub struct ManualRuntime {
    time: Arc<ManualTime>,
    tasks: Mutex<Vec<Fut<'static, ()>>>,
    sleepers: Mutex<Vec<Waker>>,
    stopping: AtomicBool,
    random: AtomicU64,
}

impl ManualRuntime {
    /// A runtime that sleeps by this clock.
    pub fn new(time: Arc<ManualTime>) -> Self {
        ManualRuntime {
            time,
            tasks: Mutex::default(),
            sleepers: Mutex::default(),
            stopping: AtomicBool::new(false),
            random: AtomicU64::new(0),
        }
    }

    /// Time passes: sleeps that are over end, and every spawned task is polled once.
    pub fn advance(&self, span: Span) {
        self.time.advance(span);
        self.wake();
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in tasks {
            self.poll(task);
        }
    }

    /// Asks the instance to stop.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        for waker in std::mem::take(&mut *lock(&self.sleepers)) {
            waker.wake();
        }
    }

    fn poll(&self, mut task: Fut<'static, ()>) {
        let mut context = Context::from_waker(Waker::noop());
        if task.as_mut().poll(&mut context).is_pending() {
            lock(&self.tasks).push(task);
        }
    }

    fn until(&self, over: impl Fn() -> bool + Send + 'static) -> Fut<'_, ()> {
        Box::pin(poll_fn(move |context| {
            if over() {
                return Poll::Ready(());
            }
            lock(&self.sleepers).push(context.waker().clone());
            // Time may have passed between the question and the entry in the list.
            if over() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    }
}

impl Runtime for ManualRuntime {
    fn monotonic(&self) -> Monotonic {
        self.time.monotonic()
    }

    fn sleep(&self, span: Span) -> Fut<'_, ()> {
        let (time, end) = (self.time.clone(), self.monotonic().plus(span));
        self.until(move || time.monotonic() >= end)
    }

    fn pass<'a>(&'a self, _: At<'a>) -> Fut<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn wait_until<'a>(&'a self, _: At<'a>, until: Timestamp, cap: Option<Span>) -> Fut<'a, ()> {
        let ms = u64::try_from(until.ms_since(self.time.now())).unwrap_or(0);
        let span = Span::millis(ms);
        self.sleep(cap.map_or(span, |cap| cap.min(span)))
    }

    fn spawn(&self, task: Fut<'static, ()>) {
        self.poll(task);
    }

    fn idle_until(&self, anchor: Monotonic, every: Span, _: Interest) -> Fut<'_, Wake> {
        let now = self.monotonic().0;
        let every = every.ms().max(1);
        let passed = now.saturating_sub(anchor.0) / every;
        let next = anchor.0.saturating_add((passed + 1).saturating_mul(every));
        let sleep = self.sleep(Span::millis(next.saturating_sub(now)));
        Box::pin(async move {
            match crate::race::first(sleep, self.stop_requested()).await {
                crate::race::First::Left(()) => Wake::Poll,
                crate::race::First::Right(()) => Wake::Stop,
            }
        })
    }

    fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn stop_requested(&self) -> Fut<'_, ()> {
        Box::pin(poll_fn(move |context| {
            if self.stopping() {
                return Poll::Ready(());
            }
            lock(&self.sleepers).push(context.waker().clone());
            if self.stopping() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    }

    fn steady(&self, _: At<'_>) -> u64 {
        0
    }

    fn random(&self, _: At<'_>) -> u64 {
        // SplitMix64: every call another number, every test the same row of them.
        let step = self
            .random
            .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst);
        let mixed = (step ^ (step >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
