//! The list: every change that is tried, by what it costs.

use super::Cost::{self, Downstream, Part as NewPart, Setting, Several};
use super::computed::{
    ack_deadline_past_work, at_least_once, call_timeout_past_latency, default_attempts,
    first_instance, lease_past_work, max_hold_past_work, third_of_ack_deadline, third_of_lease,
    third_of_ttl, ttl_past_work,
};
use crate::Scenario;

/// One change.
pub(super) struct Part {
    /// What it is called, in a few words that can be joined by `+`.
    pub name: &'static str,
    /// What it costs.
    pub cost: Cost,
    /// Dotted paths; `timer.*` stands for every timer.
    pub set: &'static [(&'static str, Value)],
    /// Whether a scenario lacks it.
    pub stands: fn(&Scenario) -> Stands,
}

/// What a key is set to.
pub(super) enum Value {
    /// Written in TOML.
    To(&'static str),
    /// The same, made out of the scenario; `None`: it has no use for it.
    By(fn(&Scenario) -> Option<String>),
}

/// How a scenario stands to a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// It can be made.
    Missing,
    /// It is made already, perhaps with other values.
    There,
    /// It means nothing here.
    NoUse,
}

use Value::{By, To};

type Settings = &'static [(&'static str, Value)];

const fn setting(name: &'static str, set: Settings) -> Part {
    Part {
        name,
        cost: Setting,
        set,
        stands: |_| Stands::Missing,
    }
}

const fn part(name: &'static str, set: Settings) -> Part {
    Part {
        cost: NewPart,
        ..setting(name, set)
    }
}

const fn downstream(name: &'static str, set: Settings) -> Part {
    Part {
        cost: Downstream,
        ..setting(name, set)
    }
}

const fn stack(name: &'static str, set: Settings) -> Part {
    Part {
        cost: Several,
        ..setting(name, set)
    }
}

impl Part {
    const fn unless(self, stands: fn(&Scenario) -> Stands) -> Part {
        Part { stands, ..self }
    }
}

const fn there(is: bool) -> Stands {
    match is {
        true => Stands::There,
        false => Stands::Missing,
    }
}

/// What stands behind a broker is of no use in `local`.
fn no_broker(scenario: &Scenario) -> Stands {
    match scenario.topology.kind.has_broker() {
        true => Stands::Missing,
        false => Stands::NoUse,
    }
}

/// A guard of the same kind is not replaced: its settings are changes of their own.
macro_rules! guard {
    ($name:literal, $kind:literal) => {
        part(
            $name,
            &[("guard", To(concat!("{ kind = \"", $kind, "\" }")))],
        )
        .unless(|scenario| there(scenario.guard.name() == $kind))
    };
}

/// Nor is a protection of the same kind.
macro_rules! protection {
    ($name:literal, $kind:literal) => {
        downstream(
            $name,
            &[(
                "downstream.protection",
                To(concat!("{ kind = \"", $kind, "\" }")),
            )],
        )
        .unless(|scenario| there(scenario.downstream.protection.name() == $kind))
    };
}

/// The changes that are tried singly: by cost, and within one cost from the timer to the
/// downstream, as a run travels.
pub(super) const SINGLE: &[Part] = &[
    // Which slots, and who fires them.
    setting("run key as the key", &[("identity.key", To("\"run_key\""))]),
    setting(
        "timer on one instance",
        &[("timer.*.on", By(first_instance))],
    ),
    setting(
        "timer registered once",
        &[("timer.*.registrations", To("1"))],
    ),
    setting(
        "next slot from the slot",
        &[("timer.*.next", To("\"from_slot\""))],
    ),
    setting(
        "catch-up of every slot",
        &[("dispatch.catch_up", To("\"all\""))],
    ),
    setting(
        "record, then publish",
        &[("dispatch.order", To("\"advance_then_dispatch\""))],
    )
    .unless(no_broker),
    setting(
        "publish, then record",
        &[("dispatch.order", To("\"dispatch_then_advance\""))],
    )
    .unless(no_broker),
    setting(
        "lock row of the slot held for 30 s",
        &[("dispatch.claim.min_hold", To("\"30s\""))],
    ),
    setting("no claim", &[("dispatch.claim", To("{ kind = \"none\" }"))]),
    // The queue.
    setting("at-least-once broker", &[("broker", By(at_least_once))]),
    setting(
        "broker that keeps its messages",
        &[("broker.loses_on_restart", To("false"))],
    ),
    // Two minutes: the default of NATS JetStream.
    setting(
        "dedup window of the broker",
        &[("broker.dedup_window", To("\"2m\""))],
    ),
    setting(
        "ack deadline renewed",
        &[("broker.renew_every", By(third_of_ack_deadline))],
    ),
    setting(
        "ack deadline longer than the work",
        &[("broker.ack_deadline", By(ack_deadline_past_work))],
    ),
    setting(
        "deliveries without limit",
        &[("broker.max_deliver", To("\"unlimited\""))],
    ),
    setting(
        "deferrals that use up no delivery",
        &[("broker.deferral_counts", To("false"))],
    ),
    // The work.
    setting("ack after the work", &[("work.ack", To("\"after\""))]).unless(no_broker),
    setting("ack before the work", &[("work.ack", To("\"before\""))]).unless(no_broker),
    setting(
        "more attempts",
        &[("work.retry.max_attempts", By(default_attempts))],
    ),
    setting(
        "longer call timeout",
        &[("work.call_timeout", By(call_timeout_past_latency))],
    ),
    // The guard that is there.
    setting("no guard", &[("guard", To("{ kind = \"none\" }"))]),
    setting("lock renewed", &[("guard.renew_every", By(third_of_ttl))]),
    setting(
        "lock longer than the work",
        &[("guard.ttl", By(ttl_past_work))],
    ),
    setting(
        "lock taken in one command",
        &[("guard.acquire", To("\"set_nx_px\""))],
    ),
    setting(
        "lock service that keeps its locks",
        &[("lock.persistence", To("true"))],
    ),
    setting("lease renewed", &[("guard.heartbeat", By(third_of_lease))]),
    setting(
        "lease longer than the work",
        &[("guard.lease", By(lease_past_work))],
    ),
    setting(
        "hold longer than the work",
        &[("guard.max_hold", By(max_hold_past_work))],
    ),
    setting(
        "released by its owner only",
        &[("guard.release", To("\"owner_checked\""))],
    ),
    setting(
        "time of the database",
        &[("guard.clock", To("\"statement\""))],
    ),
    setting(
        "work cancelled when its hold is lost",
        &[("guard.on_lost", To("\"cancel\""))],
    ),
    setting("busy runs deferred", &[("guard.busy", To("\"defer\""))]),
    setting("busy runs waited for", &[("guard.busy", To("\"wait\""))]),
    setting("unique index", &[("guard.unique_index", To("true"))]),
    setting("row before the work", &[("guard.insert", To("\"before\""))]),
    setting("finalise check", &[("guard.finalise_check", To("true"))]),
    setting(
        "sweep of queued runs",
        &[("guard.sweep_queued_after", To("\"90s\""))],
    ),
    // New parts of one's own.
    part(
        "unique run key",
        &[("dispatch.claim", To("{ kind = \"unique_run_key\" }"))],
    ),
    part(
        "lock row of the slot",
        &[(
            "dispatch.claim",
            To("{ kind = \"lock_row\", min_hold = \"30s\" }"),
        )],
    )
    .unless(|scenario| there(scenario.dispatch.claim.name() == "lock_row")),
    part("outbox", &[("dispatch.order", To("\"outbox\""))]).unless(no_broker),
    part(
        "publish inside the transaction",
        &[("dispatch.order", To("\"one_transaction\""))],
    )
    .unless(no_broker),
    part("recovery", &[("recovery.enabled", To("true"))]),
    guard!("guard process_mutex", "process_mutex"),
    guard!("guard redis_lock", "redis_lock"),
    guard!("guard lock_row", "lock_row"),
    guard!("guard check_then_insert", "check_then_insert"),
    guard!("guard insert_first", "insert_first"),
    guard!("guard state_machine", "state_machine"),
    // What the downstream, or a person, has to do.
    protection!("quarantine", "quarantine"),
    protection!("lookup before retry", "lookup_before_retry"),
    downstream(
        "keys kept for 7 days",
        &[("downstream.protection.retention", To("\"7d\""))],
    ),
    downstream(
        "key held while in flight",
        &[("downstream.in_flight", To("\"wait\""))],
    ),
    protection!("idempotency key downstream", "idempotency_key"),
    protection!("fencing token downstream", "fencing_token"),
    protection!("effect in the transaction", "transactional"),
];

/// What is tried together where none of it is enough: what the recommended stack is made of, with
/// fewer changes first.
pub(super) const TOGETHER: &[&[&str]] = &[
    &["unique run key", "outbox"],
    &["run key as the key", "unique run key"],
    &["run key as the key", "idempotency key downstream"],
    &["timer on one instance", "guard state_machine"],
    &["timer on one instance", "idempotency key downstream"],
    &["no claim", "guard state_machine"],
    &["no claim", "idempotency key downstream"],
    &["unique run key", "guard state_machine"],
    &["unique run key", "idempotency key downstream"],
    &["outbox", "idempotency key downstream"],
    &["guard state_machine", "idempotency key downstream"],
    &["guard state_machine", "fencing token downstream"],
    &["guard state_machine", "effect in the transaction"],
    &[
        "timer on one instance",
        "guard state_machine",
        "idempotency key downstream",
    ],
    &[
        "no claim",
        "guard state_machine",
        "idempotency key downstream",
    ],
    &["unique run key", "outbox", "idempotency key downstream"],
    &[
        "unique run key",
        "guard state_machine",
        "idempotency key downstream",
    ],
    &[
        "unique run key",
        "guard state_machine",
        "effect in the transaction",
    ],
];

macro_rules! stack {
    ($name:literal, $protection:literal) => {
        stack(
            $name,
            &[
                ("identity.key", To("\"run_key\"")),
                ("dispatch.claim", To("{ kind = \"unique_run_key\" }")),
                ("dispatch.order", To("\"outbox\"")),
                ("dispatch.catch_up", To("\"all\"")),
                ("broker", By(at_least_once)),
                ("broker.deferral_counts", To("false")),
                ("recovery.enabled", To("true")),
                ("guard", To("{ kind = \"state_machine\" }")),
                ("work.retry", To("{}")),
                ("downstream.protection", To($protection)),
                ("downstream.in_flight", To("\"wait\"")),
            ],
        )
    };
}

/// All of it; docs/design.md, section 3.
pub(super) const RECOMMENDED: &[Part] = &[
    stack!("the recommended stack", "{ kind = \"idempotency_key\" }"),
    stack!(
        "the recommended stack, transactional",
        "{ kind = \"transactional\" }"
    ),
];
