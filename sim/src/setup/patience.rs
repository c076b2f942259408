//! How long an execution may go on, and how much may happen in it.

use crate::agenda::Ms;
use crate::keyed::LEG_MAX_MS;
use scenarios::Scenario;
use scheduler::Span;
use scheduler::dispatch::{ClaimConfig, LeaderVia};
use scheduler::topologies::routed::WATCH_EVERY;

/// How often whoever leads by a row extends its lease until the last slot.
pub(super) fn renewals(scenario: &Scenario, last_slot: Ms) -> u64 {
    match &scenario.dispatch.claim {
        ClaimConfig::Leader(claim) if claim.via == LeaderVia::Database => {
            last_slot / claim.renew_every.ms().max(1)
        }
        _ => 0,
    }
}

/// Actions that one poll for due timers may cost in the budget: it is a call, and each row that it
/// finds a firing and up to three calls more.
const POLL_ACTIONS: u64 = 20;

/// What workers may cost that look every so often whether a timer's row, which another holds, is
/// free at last.
pub(super) fn of_polls(scenario: &Scenario, patience: Ms) -> u64 {
    let topology = &scenario.topology;
    if !topology.polls_timers() {
        return 0;
    }
    let polls = patience / topology.poll.ms().max(1);
    polls.saturating_mul(POLL_ACTIONS * u64::from(topology.workers))
}

/// Actions that one renewal or heartbeat may cost in the budget: it is a sleep and a call, and the
/// work may be begun anew as often as a run is retried.
pub(super) const BEAT_ACTIONS: u64 = 32;

/// How long the work of all slots takes one after the other: runs that queue up behind a busy
/// executor are not stuck.
pub(super) fn all_work(scenario: &Scenario) -> Ms {
    let timers = scenario.timers_at_work();
    let slots = timers.iter().map(|timer| u64::from(timer.slots));
    let each = scenario.work.takes.ms() + scenario.downstream.latency.ms();
    let topology = &scenario.topology;
    let calls = match topology.kind.calls_executors() {
        true => u64::from(topology.executors) * (1 + u64::from(topology.retries)),
        false => 1,
    };
    slots
        .sum::<u64>()
        .saturating_mul(each)
        .saturating_mul(calls)
}

/// After how long a call without a report is made again, where that happens at all.
pub(super) fn recalls(scenario: &Scenario) -> Option<Option<Span>> {
    let topology = &scenario.topology;
    let recalls = topology.kind.calls_executors() && topology.retries > 0;
    recalls.then_some(topology.lost_after.0)
}

/// The longest time that anything in the set-up waits for, backoff included, in ms.
pub(super) fn longest_deadline(scenario: &Scenario) -> Ms {
    let work = &scenario.work;
    let mut longest = work
        .call_timeout
        .ms()
        .max(work.takes.ms())
        .max(work.retry.max_backoff.ms());
    let broker = &scenario.broker;
    let looks = broker.checked_every.0.map_or(0, Span::ms);
    longest = longest.max(broker.ack_deadline.0.map_or(0, |span| span.ms() + looks));
    longest = longest.max(broker.session_timeout.0.map_or(0, Span::ms));
    longest = longest.max(broker.backoff.iter().max().map_or(0, |span| span.ms()) + looks);
    longest = longest
        .max(scenario.downstream.latency.ms())
        .max(scenario.recovery.every.ms());
    for (_, deadline) in scenario.guard.deadlines() {
        longest = longest.max(deadline.ms());
    }
    if let Some(lost_after) = recalls(scenario) {
        // Each call may be lost.
        let looked = lost_after.map_or(0, Span::ms) + WATCH_EVERY.ms();
        longest = longest.max(looked * u64::from(scenario.topology.retries));
    }
    longest = longest.max(scenario.topology.cancels_after().map_or(0, Span::ms));
    if let scheduler::guards::GuardConfig::StateMachine(config) = &scenario.guard {
        longest = longest.max(config.sweep_queued_after.0.map_or(0, Span::ms));
    }
    if let ClaimConfig::LockRow(config) = &scenario.dispatch.claim {
        longest = longest.max(config.max_hold.ms()).max(config.min_hold.ms());
    }
    if let ClaimConfig::CompareState(config) = &scenario.dispatch.claim {
        longest = longest.max(config.recover_after.0.map_or(0, Span::ms));
    }
    if let ClaimConfig::Leader(config) = &scenario.dispatch.claim
        && config.via == LeaderVia::Database
    {
        longest = longest.max(config.lease.ms() + config.renew_every.ms());
    }
    if let Some(coordinator) = &scenario.coordinator {
        let terms = coordinator.terms();
        longest = longest.max(terms.timeout + terms.tick);
    }
    longest.max(LEG_MAX_MS)
}
