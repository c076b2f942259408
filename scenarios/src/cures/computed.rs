//! Values that depend on the scenario: a third of a deadline, longer than the work.
//!
//! Each gives a value written in TOML, or `None` where the scenario has no use for it.

use crate::Scenario;
use scheduler::Span;
use scheduler::guards::GuardConfig;

/// The first instance that fires timers, alone; where there are others.
pub fn first_instance(scenario: &Scenario) -> Option<String> {
    let first = scenario.instance_names().into_iter().next()?;
    (scenario.topology.firing() > 1).then(|| format!("[\"{first}\"]"))
}

/// A third of the ack deadline: two renewals may be lost (as a lock's by default).
pub fn third_of_ack_deadline(scenario: &Scenario) -> Option<String> {
    let renewed = scenario.broker.renew_every.0.is_some();
    let deadline = scenario.broker.ack_deadline.0.filter(|_| !renewed)?;
    Some(third(deadline))
}

/// A third of the lock's time to live, which is its default.
pub fn third_of_ttl(scenario: &Scenario) -> Option<String> {
    match &scenario.guard {
        GuardConfig::RedisLock(config) if config.renewal().is_none() => Some(third(config.ttl)),
        _ => None,
    }
}

/// A third of the lease.
pub fn third_of_lease(scenario: &Scenario) -> Option<String> {
    match &scenario.guard {
        GuardConfig::StateMachine(config) if config.heartbeat.0.is_none() => {
            Some(third(config.lease))
        }
        _ => None,
    }
}

/// An ack deadline that the work does not outlast, where it does.
pub fn ack_deadline_past_work(scenario: &Scenario) -> Option<String> {
    past_work(scenario, scenario.broker.ack_deadline.0?)
}

/// The same for the lock.
pub fn ttl_past_work(scenario: &Scenario) -> Option<String> {
    match &scenario.guard {
        GuardConfig::RedisLock(config) => past_work(scenario, config.ttl),
        _ => None,
    }
}

/// The same for the lease.
pub fn lease_past_work(scenario: &Scenario) -> Option<String> {
    match &scenario.guard {
        GuardConfig::StateMachine(config) => past_work(scenario, config.lease),
        _ => None,
    }
}

/// The same for the lock row.
pub fn max_hold_past_work(scenario: &Scenario) -> Option<String> {
    match &scenario.guard {
        GuardConfig::LockRow(config) => past_work(scenario, config.max_hold),
        _ => None,
    }
}

/// A call timeout that the downstream's latency does not outlast, where it does.
pub fn call_timeout_past_latency(scenario: &Scenario) -> Option<String> {
    let latency = scenario.downstream.latency;
    (latency >= scenario.work.call_timeout).then(|| twice(latency))
}

/// The default number of attempts, where there are fewer.
pub fn default_attempts(scenario: &Scenario) -> Option<String> {
    let default = scheduler::work::RetryConfig::default().max_attempts;
    (scenario.work.retry.max_attempts < default).then(|| default.to_string())
}

/// The broker that keeps a message until it is settled, where it does not.
pub fn at_least_once(scenario: &Scenario) -> Option<String> {
    scenario
        .broker
        .settles_on_delivery()
        .then(|| "{ profile = \"at-least-once\" }".to_owned())
}

/// Twice the work, where a deadline ends within it.
fn past_work(scenario: &Scenario, deadline: Span) -> Option<String> {
    let work = scenario.work.takes.ms() + scenario.downstream.latency.ms();
    (deadline.ms() <= work).then(|| twice(Span::millis(work)))
}

fn third(span: Span) -> String {
    text(Span::millis((span.ms() / 3).max(1)))
}

/// Rounded up to a whole second.
fn twice(span: Span) -> String {
    text(Span::secs((span.ms() * 2).div_ceil(1000)))
}

fn text(span: Span) -> String {
    format!("\"{span}\"")
}
