//! How often something ticks while the work of one run goes on: renewals and heartbeats.

use super::Scenario;
use scheduler::Span;

impl Scenario {
    /// The most ticks in the work of one run that a file may ask for; each is a call that is
    /// simulated.
    pub const MOST_BEATS: u64 = 50_000;

    /// Renewals of the delivery, renewals of the lock and heartbeats in the work of one run.
    pub fn beats(&self) -> u64 {
        let takes = self.work.takes.ms() + self.downstream.latency.ms();
        [self.guard.renewal(), self.broker.renew_every.0]
            .into_iter()
            .flatten()
            .map(|every: Span| takes / every.ms().max(1))
            .sum()
    }
}
