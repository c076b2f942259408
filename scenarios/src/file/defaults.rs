//! Defaults that depend on another key of the file: the topology's and the profiles'.
//!
//! They are written into the document where the file says nothing, before it is read, so that
//! every type has one default of its own and this is the only place that knows what was left out.

use super::document::Document;
use super::{BrokerProfile, BrokerTable};
use std::sync::LazyLock;

/// In `local` nobody else is asked before a run starts.
const LOCAL: &[(&str, &str)] = &[("dispatch.claim", "{ kind = \"none\" }")];

/// Where the rows of timers are polled, nothing is published.
const POLLED_TIMERS: &[(&str, &str)] = &[("dispatch.order", "\"advance_then_dispatch\"")];
/// XXL-JOB's time ring: the next trigger time is committed, then a thread calls.
const ROUTED: &[(&str, &str)] = &[("dispatch.order", "\"advance_then_dispatch\"")];

/// What each profile of a broker says where the file does not, key by key. The numbers and their
/// sources are in [`servers::broker::profiles`].
static PROFILES: LazyLock<Vec<(BrokerProfile, Defaults)>> = LazyLock::new(|| {
    let of = |profile: BrokerProfile| {
        let table = serde_json::to_value(BrokerTable::of(profile)).unwrap_or_default();
        let fields = table.as_object().into_iter().flatten();
        let others = fields.filter(|(key, _)| *key != "profile");
        // A plain value is written in TOML as it is in JSON.
        let defaults = others.map(|(key, value)| (format!("broker.{key}"), value.to_string()));
        (profile, defaults.collect())
    };
    BrokerProfile::ALL.into_iter().map(of).collect()
});

/// In `sharded` likewise; and without a coordinator there are no shards.
const SHARDED: &[(&str, &str)] = &[
    ("dispatch.claim", "{ kind = \"none\" }"),
    ("coordinator.profile", "\"zookeeper\""),
    ("coordinator.shards", "2"),
];

/// Who leads is asked of a coordinator, unless a row of the database says it.
const LED: &[(&str, &str)] = &[("coordinator.profile", "\"kubernetes\"")];

type Defaults = Vec<(String, String)>;

/// MariaDB's own: tx_isolation and innodb_lock_wait_timeout. Source: its documentation of the system
/// variables, 10.11.
const MARIADB: &[(&str, &str)] = &[
    ("database.isolation", "\"repeatable_read\""),
    ("database.lock_wait", "\"50s\""),
];

/// Guards that can find a run in somebody else's hands and have no queue of their own.
const GUARDS_WITH_BUSY: &[&str] = &["process_mutex", "lock_row", "redis_lock"];

/// Writes the defaults into the document.
pub(super) fn fill(document: &mut Document<'_>) {
    let kind = document.str("topology.kind");
    let polls_timers = kind == Some("polled") && document.str("topology.rows") != Some("runs");
    let in_place = matches!(kind, Some("local" | "sharded")) || polls_timers;
    let mut defaults: Vec<(&str, &'static str)> = Vec::new();
    if polls_timers {
        defaults.extend(POLLED_TIMERS);
    }
    if kind == Some("local") {
        defaults.extend(LOCAL);
    }
    if kind == Some("sharded") {
        defaults.extend(SHARDED);
    }
    if kind == Some("routed") {
        defaults.extend(ROUTED);
    }
    let leads = document.str("dispatch.claim.kind") == Some("leader");
    if leads && document.str("dispatch.claim.via") != Some("database") {
        defaults.extend(LED);
    }
    let profile = document.str("broker.profile");
    let of_profile = profile.and_then(|name| PROFILES.iter().find(|(of, _)| of.name() == name));
    if let Some((_, of_profile)) = of_profile {
        defaults.extend(
            of_profile
                .iter()
                .map(|(path, value)| (path.as_str(), value.as_str())),
        );
    }
    if document.str("database.profile") == Some("mariadb") {
        defaults.extend(MARIADB);
    }
    if document
        .str("guard.kind")
        .is_some_and(|kind| GUARDS_WITH_BUSY.contains(&kind))
    {
        let busy = if in_place { "\"drop\"" } else { "\"defer\"" };
        defaults.push(("guard.busy", busy));
    }
    for (path, value) in defaults {
        document.default(path, value);
    }
}
