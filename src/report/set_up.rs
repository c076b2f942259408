//! A scenario in one line: who is there, what guards, what protects.

use scenarios::Scenario;
use scenarios::file::{Rows, TopologyKind};

/// What a test brings along instead of the scenario's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OwnParts {
    /// Instead of `[guard]`.
    pub guard: bool,
    /// Instead of `[work] handler`.
    pub handler: bool,
    /// Instead of `[downstream]`.
    pub downstream: bool,
}

/// Such as `queued, 2 schedulers, 2 executors, at-least-once broker; guard none; downstream
/// unprotected`, or `...; guard of the test; ...`.
pub fn set_up(scenario: &Scenario, own: OwnParts) -> String {
    let guard = match own.guard {
        true => "of the test",
        false => scenario.guard.name(),
    };
    let handler = match own.handler {
        true => "handler of the test; ",
        false => "",
    };
    let downstream = match own.downstream {
        true => "downstream of the test".to_owned(),
        false => protection(scenario),
    };
    format!(
        "{}; guard {guard}; {handler}{downstream}",
        processes(scenario)
    )
}

fn processes(scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    match topology.kind {
        TopologyKind::Local => format!("local, {}", count(topology.instances, "instance")),
        TopologyKind::Sharded => format!(
            "sharded, {}, {}",
            count(topology.instances, "instance"),
            count(
                scenario
                    .coordinator
                    .as_ref()
                    .map_or(0, |table| table.shards),
                "shard"
            )
        ),
        TopologyKind::Polled => format!(
            "polled, {}, rows of {}",
            count(topology.workers, "worker"),
            match topology.rows {
                Rows::Timers => "timers",
                Rows::Runs => "runs",
            }
        ),
        TopologyKind::Queued => format!(
            "queued, {}, {}, {} broker",
            count(topology.schedulers, "scheduler"),
            count(topology.executors, "executor"),
            scenario.broker.profile.name()
        ),
        TopologyKind::Routed => format!(
            "routed, {}, {}, route {}, block {}",
            count(topology.admins, "admin"),
            count(topology.executors, "executor"),
            topology.route.name(),
            topology.block.name()
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
        (_, Some(stem)) if !stem.ends_with('a') => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}
