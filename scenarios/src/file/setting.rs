//! The lengths of time that a scenario says, by their dotted paths, and the same scenario with
//! another one in place.
//!
//! Which there are is read from the scenario as it is written out, so that a guard or a table that
//! gets another duration need not be named here.

use super::{Scenario, SignedSpan};
use scheduler::dispatch::{ClaimConfig, LeaderVia, Order};
use scheduler::guards::GuardConfig;
use scheduler::{Span, Switchable};
use serde_json::Value;

/// A length of time that a scenario says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// Where it stands, such as `guard.lease`.
    pub path: String,
    /// How long it is.
    pub span: Span,
}

impl Setting {
    /// True if it says how long somebody remembers, not how long somebody waits.
    pub fn is_memory(&self) -> bool {
        ["broker.dedup_window", "downstream.protection.retention"].contains(&self.path.as_str())
    }
}

/// A setting that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} = \"{span}\": {why}")]
pub struct SettingError {
    path: String,
    span: Span,
    why: String,
}

/// A condition of one process that is a length of time with a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// How far its wall clock is ahead or behind.
    Skew,
    /// How much later or earlier than planned its timers wake it.
    FireOffset,
}

impl Condition {
    /// Both.
    pub const ALL: [Condition; 2] = [Condition::Skew, Condition::FireOffset];

    /// The key in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Condition::Skew => "skew",
            Condition::FireOffset => "fire_offset",
        }
    }
}

impl Scenario {
    /// Every length of time of the tables that say how runs are dispatched, delivered, guarded and
    /// done, by path. What is switched off, or belongs to a part that the scenario does not use, is
    /// left out.
    pub fn settings(&self) -> Vec<Setting> {
        let written = serde_json::to_value(self).unwrap_or_default();
        let mut settings = Vec::new();
        for table in self.tables_in_use() {
            if let Some(value) = written.get(table) {
                collect(value, table, &mut settings);
            }
        }
        let relays = self.dispatch.order == Order::Outbox;
        settings.retain(|setting| relays || setting.path != "dispatch.relay_every");
        let by_row = matches!(&self.dispatch.claim,
            ClaimConfig::Leader(claim) if claim.via == LeaderVia::Database);
        let of_row = ["dispatch.claim.lease", "dispatch.claim.renew_every"];
        settings.retain(|setting| by_row || !of_row.contains(&setting.path.as_str()));
        settings.sort();
        settings
    }

    fn tables_in_use(&self) -> Vec<&'static str> {
        let mut tables = vec!["dispatch", "downstream", "guard", "topology", "work"];
        if self.topology.has_queue() {
            tables.push("broker");
        }
        if self.recovery.enabled && matches!(self.guard, GuardConfig::StateMachine(_)) {
            tables.push("recovery");
        }
        if self.coordinator.is_some() {
            tables.push("coordinator");
        }
        tables
    }

    /// The same scenario with another length of time at a path of [`Scenario::settings`]. A default
    /// that follows from it (the renewal of a lock, from its `ttl`) follows it.
    ///
    /// # Errors
    /// If there is no such setting, or a file that says so would be refused.
    pub fn with_setting(&self, path: &str, span: Span) -> Result<Scenario, SettingError> {
        let refused = |why: String| SettingError {
            path: path.to_owned(),
            span,
            why,
        };
        let mut from = self.clone();
        if path == "guard.ttl"
            && let GuardConfig::RedisLock(lock) = &mut from.guard
        {
            let written = lock.renew_every.take();
            if written != Some(Switchable(lock.renewal())) {
                lock.renew_every = written;
            }
        }
        let mut document =
            serde_json::to_value(&from).map_err(|error| refused(error.to_string()))?;
        let place = document
            .pointer_mut(&format!("/{}", path.replace('.', "/")))
            .ok_or_else(|| refused("there is no such setting".to_owned()))?;
        *place = Value::String(span.to_string());
        let changed: Scenario =
            serde_json::from_value(document).map_err(|error| refused(error.to_string()))?;
        Ok(Scenario {
            guard: changed.guard.filled_in(),
            // What is only said of a scenario is not written with it.
            name: from.name,
            about: from.about,
            source: from.source,
            tags: from.tags,
            explore: from.explore,
            expect: from.expect,
            repairs: from.repairs,
            deploys: self.deployed_with(path, span),
            changes: from.changes,
            ..changed
        })
    }

    /// What a condition of one process is.
    pub fn condition(&self, condition: Condition, instance: &str) -> SignedSpan {
        let conditions = self.conditions(instance);
        match condition {
            Condition::Skew => conditions.clock.skew,
            Condition::FireOffset => conditions.fire_offset,
        }
    }

    /// The same scenario with another condition of one process.
    pub fn with_condition(
        &self,
        condition: Condition,
        instance: &str,
        span: SignedSpan,
    ) -> Scenario {
        let mut changed = self.clone();
        let mut table = self.conditions(instance);
        match condition {
            Condition::Skew => table.clock.skew = span,
            Condition::FireOffset => table.fire_offset = span,
        }
        changed.instances.retain(|other| other.name != instance);
        changed.instances.push(table);
        changed
    }
}

fn collect(value: &Value, path: &str, into: &mut Vec<Setting>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(value, &format!("{path}.{key}"), into);
            }
        }
        Value::String(text) => {
            if let Ok(span) = Span::parse(text) {
                let path = path.to_owned();
                into.push(Setting { path, span });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::catalogue;

    fn paths(text: &str) -> Vec<String> {
        let settings = Scenario::parse(text, "t").unwrap().settings();
        settings.into_iter().map(|setting| setting.path).collect()
    }

    #[test]
    fn the_settings_are_the_durations_of_what_a_scenario_uses() {
        assert_eq!(
            paths("[guard]\nkind = 'state_machine'"),
            [
                "broker.ack_deadline",
                "dispatch.relay_every",
                "downstream.latency",
                "guard.heartbeat",
                "guard.lease",
                "guard.sweep_queued_after",
                "recovery.every",
                "topology.restart_after",
                "work.call_timeout",
                "work.retry.backoff",
                "work.retry.max_backoff",
                "work.takes",
            ]
        );
        let local = paths(
            "[topology]\nkind = 'local'\n[dispatch]\norder = 'dispatch_then_advance'\n\
             claim = { kind = 'lock_row' }\n[guard]\nkind = 'state_machine'\nheartbeat = 'off'\n\
             [recovery]\nenabled = false\n\
             [downstream]\nprotection = { kind = 'idempotency_key' }",
        );
        assert_eq!(
            local,
            [
                "dispatch.claim.max_hold",
                "dispatch.claim.min_hold",
                "downstream.latency",
                "downstream.protection.retention",
                "guard.lease",
                "guard.sweep_queued_after",
                "topology.restart_after",
                "work.call_timeout",
                "work.retry.backoff",
                "work.retry.max_backoff",
                "work.takes",
            ]
        );
    }

    #[test]
    fn every_setting_of_the_catalogue_can_be_set_to_what_it_is() {
        for entry in catalogue::all() {
            let scenario = entry.scenario().unwrap();
            for Setting { path, span } in scenario.settings() {
                let same = scenario.with_setting(&path, span).unwrap();
                assert_eq!(same, scenario, "{} {path}", entry.name);
            }
        }
    }

    #[test]
    fn a_setting_that_is_changed_is_the_only_change() {
        let scenario = Scenario::parse("name = 'n'\n[guard]\nkind = 'state_machine'", "t").unwrap();
        let changed = scenario.with_setting("guard.lease", Span::millis(12_345));
        let expected = "name = 'n'\n[guard]\nkind = 'state_machine'\nlease = '12345ms'";
        assert_eq!(changed, Ok(Scenario::parse(expected, "t").unwrap()));
    }

    #[test]
    fn the_default_renewal_of_a_lock_follows_its_ttl_and_a_written_one_stays() {
        let renewal = |text: &str| {
            let scenario = Scenario::parse(text, "t").unwrap();
            let changed = scenario.with_setting("guard.ttl", Span::secs(9)).unwrap();
            match changed.guard {
                GuardConfig::RedisLock(lock) => lock.renewal(),
                _ => panic!("another guard"),
            }
        };
        let lock = "[guard]\nkind = 'redis_lock'";
        assert_eq!(renewal(lock), Some(Span::secs(3)));
        let written = format!("{lock}\nrenew_every = '5s'");
        assert_eq!(renewal(&written), Some(Span::secs(5)));
        assert_eq!(renewal(&format!("{lock}\nrenew_every = 'off'")), None);
    }

    #[test]
    fn what_a_file_may_not_say_is_refused() {
        let scenario = Scenario::parse("[guard]\nkind = 'state_machine'", "t").unwrap();
        let no_lease = scenario.with_setting("guard.lease", Span::ZERO);
        assert!(
            no_lease
                .unwrap_err()
                .to_string()
                .contains("longer than zero")
        );
        let unknown = scenario.with_setting("guard.ttl", Span::secs(1));
        assert_eq!(
            unknown.unwrap_err().to_string(),
            "guard.ttl = \"1s\": there is no such setting"
        );
    }

    #[test]
    fn a_condition_replaces_what_the_file_says_of_that_process_only() {
        let text = "[[instance]]\nname = 'scheduler-2'\nfire_offset = '2s'\nstarts_at = '1s'";
        let scenario = Scenario::parse(text, "t").unwrap();
        let behind = SignedSpan::millis(-500);
        let changed = scenario.with_condition(Condition::Skew, "scheduler-2", behind);
        let expected = "[[instance]]\nname = 'scheduler-2'\nfire_offset = '2s'\nstarts_at = '1s'\n\
                        clock = { skew = '-500ms' }";
        assert_eq!(changed, Scenario::parse(expected, "t").unwrap());
        assert_eq!(changed.condition(Condition::Skew, "scheduler-2"), behind);
        let other = scenario.with_condition(Condition::FireOffset, "scheduler-1", behind);
        assert_eq!(other.instances.len(), 2);
        assert_eq!(
            other.condition(Condition::FireOffset, "scheduler-2"),
            SignedSpan::millis(2000)
        );
    }
}
