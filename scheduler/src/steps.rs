//! The append-only numbered list of pipeline steps, each with the layer that owns it.
//!
//! Numbers are part of tokens and history hashes: a step is never renumbered and never removed.

use evidence::{Layer, Step};

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal, $layer:ident;)*) => {
        $($(#[$doc])* pub static $name: Step =
            Step { number: $number, name: $text, layer: Layer::$layer };)*
        /// Every step, by number.
        pub static ALL: &[&Step] = &[$(&$name),*];
    };
}

steps! {
    /// Asleep until the next slot.
    TIMER_WAIT = 0, "timer.wait", Scheduling;
    /// The slot becomes a run.
    TIMER_FIRE = 1, "timer.fire", Scheduling;
    /// The slot is claimed, in one call.
    DISPATCH_CLAIM = 2, "dispatch.claim", Scheduling;
    /// The claim's read, where it has a read and a write.
    DISPATCH_CLAIM_READ = 3, "dispatch.claim.read", Scheduling;
    /// The claim's write, where it has a read and a write.
    DISPATCH_CLAIM_WRITE = 4, "dispatch.claim.write", Scheduling;
    /// The timer's stored position moves past the slot.
    DISPATCH_ADVANCE = 5, "dispatch.advance", Scheduling;
    /// The relay reads pending rows.
    OUTBOX_READ = 6, "outbox.read", Publishing;
    /// The message goes to the broker.
    BROKER_PUBLISH = 7, "broker.publish", Publishing;
    /// The outbox row is marked as sent.
    OUTBOX_MARK = 8, "outbox.mark", Publishing;
    /// The consumer's long poll, answered by a delivery.
    BROKER_DELIVER = 9, "broker.deliver", Delivery;
    /// The guard decides, in one call.
    GUARD_ENTER = 10, "guard.enter", Execution;
    /// The guard's read, where it has a read and a write.
    GUARD_ENTER_READ = 11, "guard.enter.read", Execution;
    /// The guard's write, where it has a read and a write.
    GUARD_ENTER_WRITE = 12, "guard.enter.write", Execution;
    /// A lock is taken.
    LOCK_ACQUIRE = 13, "lock.acquire", Execution;
    /// First half of a two-step acquire.
    LOCK_ACQUIRE_SET = 14, "lock.acquire.set", Execution;
    /// Second half of a two-step acquire.
    LOCK_ACQUIRE_EXPIRE = 15, "lock.acquire.expire", Execution;
    /// A lock's TTL is extended.
    LOCK_RENEW = 16, "lock.renew", Execution;
    /// A lock is given back.
    LOCK_RELEASE = 17, "lock.release", Execution;
    /// The execution lease is extended.
    GUARD_HEARTBEAT = 18, "guard.heartbeat", Execution;
    /// The downstream is asked whether the effect exists.
    DOWNSTREAM_LOOKUP = 19, "downstream.lookup", Effect;
    /// The outside world is changed.
    DOWNSTREAM_PERFORM = 20, "downstream.perform", Effect;
    /// The outcome is recorded.
    GUARD_FINISH = 21, "guard.finish", Execution;
    /// The message is settled as done.
    BROKER_ACK = 22, "broker.ack", Delivery;
    /// The message is given back for later.
    BROKER_DEFER = 23, "broker.defer", Delivery;
    /// The delivery's deadline is extended.
    BROKER_RENEW = 24, "broker.renew", Delivery;
    /// Recovery looks for expired leases and forgotten runs.
    RECOVERY_SCAN = 25, "recovery.scan", Execution;
    /// Recovery puts a run back into the queue.
    RECOVERY_REQUEUE = 26, "recovery.requeue", Execution;
    /// A starting instance reads the timers' stored positions.
    DISPATCH_RESUME = 27, "dispatch.resume", Scheduling;
    /// The message is rejected for good and becomes a dead letter.
    BROKER_REJECT = 28, "broker.reject", Delivery;
    /// The handler of an attempt is at work.
    WORK = 29, "work", Execution;
    /// An instance's life: crash, restart, stop.
    INSTANCE = 30, "instance", Execution;
    /// A claim that is held is given back.
    DISPATCH_RELEASE = 31, "dispatch.release", Scheduling;
    /// An instance opens a session at the coordinator.
    COORDINATOR_JOIN = 32, "coordinator.join", Scheduling;
    /// It keeps the session alive.
    COORDINATOR_BEAT = 33, "coordinator.beat", Scheduling;
    /// It asks to lead, or whether it still does.
    COORDINATOR_CAMPAIGN = 34, "coordinator.campaign", Scheduling;
    /// It asks which shards it owns.
    COORDINATOR_SHARDS = 35, "coordinator.shards", Scheduling;
    /// It ends its session.
    COORDINATOR_LEAVE = 36, "coordinator.leave", Scheduling;
    /// It notes that a run of a shard begins.
    COORDINATOR_BEGIN = 37, "coordinator.begin", Execution;
    /// It notes that a run of a shard is done.
    COORDINATOR_FINISH = 38, "coordinator.finish", Execution;
    /// It takes over what a former owner of its shards left behind.
    COORDINATOR_TAKE_OVER = 39, "coordinator.take_over", Execution;
    /// Whoever leads by a lease in the database extends it.
    DISPATCH_RENEW = 40, "dispatch.renew", Scheduling;
    /// A worker claims a row of the queue, in one call.
    WORKER_CLAIM = 41, "worker.claim", Delivery;
    /// A worker looks for a row that may be claimed, where that is a call of its own.
    WORKER_CLAIM_READ = 42, "worker.claim.read", Delivery;
    /// It claims the row that it has found.
    WORKER_CLAIM_WRITE = 43, "worker.claim.write", Delivery;
    /// The row is settled: done, or given up.
    WORKER_DONE = 44, "worker.done", Delivery;
    /// The row is given back for later.
    WORKER_DEFER = 45, "worker.defer", Delivery;
    /// The claim of the row is extended.
    WORKER_RENEW = 46, "worker.renew", Delivery;
    /// A worker looks for timers that are due.
    WORKER_POLL = 47, "worker.poll", Scheduling;
    /// An admin chooses who executes a run.
    ADMIN_ROUTE = 48, "admin.route", Publishing;
    /// It writes the row of a call, before it calls.
    ADMIN_LOG = 49, "admin.log", Publishing;
    /// It asks an executor whether it is there, or idle.
    ADMIN_BEAT = 50, "admin.beat", Publishing;
    /// It calls an executor to execute a run.
    ADMIN_CALL = 51, "admin.call", Publishing;
    /// It writes down what came of the call.
    ADMIN_ANSWER = 52, "admin.answer", Publishing;
    /// The executor takes a call, or does not.
    EXECUTOR_ACCEPT = 53, "executor.accept", Delivery;
    /// The executor writes down how the run of a call ended.
    EXECUTOR_REPORT = 54, "executor.report", Delivery;
    /// An admin looks for calls that failed or were lost.
    ADMIN_WATCH = 55, "admin.watch", Execution;
    /// It takes one of them, to call again.
    ADMIN_RECALL = 56, "admin.recall", Execution;
}

/// The step with this name.
pub fn by_name(name: &str) -> Option<&'static Step> {
    ALL.iter().copied().find(|step| step.name == name)
}

/// The step with this number.
pub fn by_number(number: u8) -> Option<&'static Step> {
    ALL.get(usize::from(number)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_stands_at_the_place_of_its_number() {
        for (place, step) in ALL.iter().enumerate() {
            assert_eq!(usize::from(step.number), place, "{step}");
            assert_eq!(by_name(step.name), Some(*step));
        }
    }
}
