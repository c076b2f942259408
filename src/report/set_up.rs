//! A scenario in one line: who is there, what guards, what protects.

use scenarios::Scenario;
use scenarios::file::{BrokerProfile, TopologyKind};

/// Such as `queued, 2 schedulers, 2 executors, at-least-once broker; guard none; downstream
/// unprotected`.
pub fn set_up(scenario: &Scenario) -> String {
    format!(
        "{}; guard {}; {}",
        processes(scenario),
        scenario.guard.name(),
        protection(scenario)
    )
}

fn processes(scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    match topology.kind {
        TopologyKind::Local => format!("local, {}", count(topology.instances, "instance")),
        TopologyKind::Queued => format!(
            "queued, {}, {}, {} broker",
            count(topology.schedulers, "scheduler"),
            count(topology.executors, "executor"),
            match scenario.broker.profile {
                BrokerProfile::AtLeastOnce => "at-least-once",
                BrokerProfile::AtMostOnce => "at-most-once",
            }
        ),
    }
}

fn protection(scenario: &Scenario) -> String {
    match scenario.downstream.protection.name() {
        "none" => "downstream unprotected".to_owned(),
        name => format!("downstream {}", name.replace('_', " ")),
    }
}

/// `1 fault`, `2 faults`, `3 deliveries`.
pub(super) fn count(number: impl Into<u64>, noun: &str) -> String {
    let number = number.into();
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}
