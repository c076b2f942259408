//! Relay and recovery: arranged anew whenever a row that they read has changed.

use super::agenda::{Action, Ms};
use super::sites::Watch;
use super::{INSTANCES, Loop, SCHEDULERS, Store};
use evidence::Timestamp;

/// `[dispatch] relay_every`.
pub const RELAY_EVERY: Ms = 1_000;
/// `[recovery] every`.
pub const RECOVERY_EVERY: Ms = 10_000;

/// Relay or recovery, which polls only when it would find something.
#[derive(Default)]
pub struct Poller {
    pub anchor: Ms,
    scheduled: Option<Ms>,
}

impl<S: Store, W: Watch> Loop<'_, S, W> {
    pub(super) fn arrange_relays(&mut self) {
        if let Some(due) = self.database.relay_due() {
            (0..SCHEDULERS).for_each(|instance| self.arrange(instance, due, RELAY_EVERY));
        }
    }

    pub(super) fn arrange_recoveries(&mut self) {
        if let Some(due) = self.database.recovery_due() {
            (SCHEDULERS..INSTANCES)
                .for_each(|instance| self.arrange(instance, due, RECOVERY_EVERY));
        }
    }

    /// Puts the first poll instant at or after `due` on the heap, unless an earlier one is there.
    fn arrange(&mut self, instance: u8, due: i64, every: Ms) {
        let (now, due) = (self.now, self.since_epoch(Timestamp(due)));
        let poller = &mut self.of(instance).poller;
        let from = due.max(now + 1).saturating_sub(poller.anchor);
        let at = poller.anchor + from.div_ceil(every) * every;
        let sooner = |scheduled| scheduled <= at && scheduled > now;
        if !poller.scheduled.is_some_and(sooner) {
            poller.scheduled = Some(at);
            self.add(at, instance, Action::Poll);
        }
    }

    pub(super) fn poll(&mut self, instance: u8, at: Ms) {
        let poller = &mut self.of(instance).poller;
        if poller.scheduled != Some(at) {
            return;
        }
        poller.scheduled = None;
        let (due, every) = if instance < SCHEDULERS {
            (self.database.relay_due(), RELAY_EVERY)
        } else {
            (self.database.recovery_due(), RECOVERY_EVERY)
        };
        if let Some(due) = due {
            assert!(
                due > self.timestamp().0,
                "nothing is left behind without a fault"
            );
            self.arrange(instance, due, every);
        }
    }
}
