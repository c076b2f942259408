//! Messages that come before their time: a run that was published ahead is held, unacked and in
//! memory, until it is due, while the consumer goes on taking others.
//!
//! So does Celery with a task that has an ETA. The deadline of the delivery runs all the while: where
//! it ends before the run is due, another worker holds the run too (B64).

use crate::Span;
use crate::executor::Executor;
use crate::ports::Delivery;
use crate::race::{self, First};
use std::sync::Arc;

impl Executor {
    /// How long the delivered run is not due yet; `None`: it is due, or nothing is held here.
    pub(crate) fn until_due(&self, delivery: &Delivery) -> Option<Span> {
        if !self.holds {
            return None;
        }
        let now = self.instance.ports.clock.now();
        let left = delivery.envelope.run.scheduled().0.saturating_sub(now.0);
        let left = u64::try_from(left).ok().filter(|left| *left > 0)?;
        Some(Span::millis(left))
    }

    /// Holds the delivery until its run is due, then executes it. What an instance that stops holds
    /// is left to the deadline.
    pub(crate) fn hold(self: Arc<Self>, delivery: Delivery, wait: Span) {
        let runtime = self.instance.ports.runtime.clone();
        runtime.clone().spawn(Box::pin(async move {
            let due = race::first(runtime.sleep(wait), runtime.stop_requested());
            if let First::Left(()) = due.await {
                self.deliver(delivery).await;
            }
        }));
    }
}
