//! Defaults that depend on another key of the file: the topology's and the profiles'.
//!
//! They are written into the document where the file says nothing, before it is read, so that
//! every type has one default of its own and this is the only place that knows what was left out.

use super::document::Document;

/// In `local` nobody else is asked before a run starts.
const LOCAL: &[(&str, &str)] = &[("dispatch.claim", "{ kind = \"none\" }")];

/// A message counts as settled when it is handed over and lives in memory only. Source: the
/// documentation of core NATS ("at most once") and of Redis pub/sub.
const AT_MOST_ONCE: &[(&str, &str)] = &[
    ("broker.ack_deadline", "\"off\""),
    ("broker.max_deliver", "1"),
    ("broker.then", "\"drop\""),
    ("broker.loses_on_restart", "true"),
];

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
    let local = document.str("topology.kind") == Some("local");
    let mut defaults: Vec<(&str, &'static str)> = Vec::new();
    if local {
        defaults.extend(LOCAL);
    }
    if document.str("broker.profile") == Some("at-most-once") {
        defaults.extend(AT_MOST_ONCE);
    }
    if document.str("database.profile") == Some("mariadb") {
        defaults.extend(MARIADB);
    }
    if document
        .str("guard.kind")
        .is_some_and(|kind| GUARDS_WITH_BUSY.contains(&kind))
    {
        defaults.push(("guard.busy", if local { "\"drop\"" } else { "\"defer\"" }));
    }
    for (path, value) in defaults {
        document.default(path, value);
    }
}
