//! What a set-up inside the envelope cannot do without: each ingredient, taken out of any sound
//! set-up, with a plan written by hand that shows it missing.

use crate::set_ups::{Strike, strike};
use evidence::{Step, Verdict};
use scenarios::Scenario;
use scenarios::file::{InFlight, MaxDeliver};
use scenarios::spec::{FaultKind, Phase};
use scheduler::dispatch::{CatchUp, ClaimConfig, Order};
use scheduler::effects::{IdempotencyKeyConfig, ProtectionConfig, TransactionalConfig};
use scheduler::guards::{GuardConfig, OnLost, StateMachineConfig};
use scheduler::schedules::ScheduleConfig;
use scheduler::work::AckWhen;
use scheduler::{IdentityKey, Span, Switchable, steps};

/// One ingredient.
pub struct Ingredient {
    /// What it is.
    pub name: &'static str,
    /// Brings any set-up of the envelope to where the ingredient alone protects.
    pub prepare: fn(&mut Scenario),
    /// Takes it out.
    pub remove: fn(&mut Scenario),
    /// The plan that shows it missing.
    pub witness: fn(&Scenario) -> Vec<Strike>,
    /// What comes of it.
    pub gives: &'static [Verdict],
}

/// One after the other.
fn times(count: u8, one: fn() -> Strike) -> Vec<Strike> {
    (0..count).map(|_| one()).collect()
}

fn guard(scenario: &mut Scenario) -> &mut StateMachineConfig {
    match &mut scenario.guard {
        GuardConfig::StateMachine(config) => config,
        _ => unreachable!("every set-up of the envelope has one"),
    }
}

fn one_slot(scenario: &mut Scenario) {
    scenario.timers.truncate(1);
    scenario.timers[0].slots = 1;
}

fn key(scenario: &mut Scenario) {
    scenario.downstream.protection =
        ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig::default());
}

fn transactional(scenario: &mut Scenario) {
    scenario.downstream.protection = ProtectionConfig::Transactional(TransactionalConfig {});
}

fn duplicated_perform(_: &Scenario) -> Vec<Strike> {
    vec![strike(
        FaultKind::DuplicateRequest,
        &steps::DOWNSTREAM_PERFORM,
        Phase::Request,
    )]
}

fn crash_after(step: &'static Step) -> Vec<Strike> {
    vec![strike(FaultKind::Crash, step, Phase::Done)]
}

/// Everything that a set-up of the envelope cannot do without.
pub const INGREDIENTS: [Ingredient; 15] = [
    Ingredient {
        name: "unique run key, where guard and downstream compare a row id",
        prepare: |s| {
            key(s);
            s.identity.key = IdentityKey::Fresh;
            s.topology.schedulers = 2;
            // The broker would take the second message for the first.
            s.broker.dedup_window = Switchable(None);
        },
        remove: |s| s.dispatch.claim = ClaimConfig::None,
        witness: |_| vec![],
        gives: &[Verdict::Duplicate],
    },
    Ingredient {
        name: "idempotency key",
        prepare: key,
        remove: |s| s.downstream.protection = ProtectionConfig::default(),
        witness: duplicated_perform,
        gives: &[Verdict::Duplicate],
    },
    Ingredient {
        name: "key held while the first request is in flight",
        prepare: key,
        remove: |s| s.downstream.in_flight = InFlight::Naive,
        witness: duplicated_perform,
        gives: &[Verdict::Duplicate],
    },
    Ingredient {
        name: "key kept longer than the time to rest",
        prepare: key,
        remove: |s| {
            let retention = Span::millis(500);
            s.downstream.protection =
                ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig { retention });
        },
        witness: |_| crash_after(&steps::DOWNSTREAM_PERFORM),
        gives: &[Verdict::Duplicate],
    },
    Ingredient {
        name: "outbox: record, then publish",
        prepare: |_| {},
        remove: |s| s.dispatch.order = Order::AdvanceThenDispatch,
        witness: |_| crash_after(&steps::DISPATCH_CLAIM),
        gives: &[Verdict::Stuck],
    },
    Ingredient {
        name: "outbox: publish, then record",
        prepare: |_| {},
        remove: |s| s.dispatch.order = Order::DispatchThenAdvance,
        witness: |_| crash_after(&steps::DISPATCH_CLAIM),
        gives: &[Verdict::Stuck],
    },
    Ingredient {
        name: "catch-up",
        prepare: |_| {},
        remove: |s| s.dispatch.catch_up = CatchUp::None,
        witness: |s| {
            times(s.topology.schedulers, || {
                strike(FaultKind::Crash, &steps::TIMER_WAIT, Phase::Done)
            })
        },
        gives: &[Verdict::Lost],
    },
    Ingredient {
        name: "timer recorded before its first slot",
        prepare: |_| {},
        remove: |s| {
            for timer in &mut s.timers {
                timer.schedule = ScheduleConfig::Every {
                    every: Span::secs(3600),
                    phase: Span::millis(200),
                };
            }
        },
        witness: |s| {
            times(s.topology.schedulers, || {
                strike(FaultKind::Crash, &steps::DISPATCH_RESUME, Phase::Before)
            })
        },
        gives: &[Verdict::Lost],
    },
    Ingredient {
        name: "finalise check, where effect and record are one transaction",
        prepare: |s| {
            transactional(s);
            // Else the heartbeat finds the run done and the attempt ends before it writes.
            guard(s).on_lost = OnLost::Continue;
        },
        remove: |s| guard(s).finalise_check = false,
        witness: |_| {
            vec![strike(
                FaultKind::LoseReply,
                &steps::DOWNSTREAM_PERFORM,
                Phase::Done,
            )]
        },
        gives: &[Verdict::Duplicate],
    },
    Ingredient {
        name: "more attempts than faults",
        prepare: |_| {},
        remove: |s| s.work.retry.max_attempts = 1,
        witness: |_| crash_after(&steps::GUARD_ENTER),
        gives: &[Verdict::GaveUp],
    },
    Ingredient {
        name: "more attempts than faults, where the effect has happened",
        prepare: key,
        remove: |s| s.work.retry.max_attempts = 1,
        witness: |_| crash_after(&steps::DOWNSTREAM_PERFORM),
        gives: &[Verdict::Misrecorded],
    },
    Ingredient {
        name: "attempts that one outage cannot all fail",
        prepare: |s| {
            key(s);
            s.topology.executors = 1;
            // Neither another run nor a second delivery comes between the attempts.
            one_slot(s);
            s.work.takes = Span::ZERO;
            s.broker.ack_deadline = Switchable(Some(Span::secs(60)));
        },
        remove: |s| {
            s.work.retry.max_attempts = 5;
            s.work.retry.backoff = Span::millis(100);
            s.work.retry.max_backoff = Span::millis(100);
        },
        witness: |s| {
            let each = s.work.call_timeout.as_i64() + 200;
            vec![Strike {
                magnitude_ms: 5 * each,
                ..strike(
                    FaultKind::Partition,
                    &steps::DOWNSTREAM_PERFORM,
                    Phase::Before,
                )
            }]
        },
        gives: &[Verdict::GaveUp],
    },
    Ingredient {
        name: "recovery, where the message is acked before the work",
        prepare: |s| s.work.ack = AckWhen::Before,
        remove: |s| s.recovery.enabled = false,
        witness: |_| crash_after(&steps::BROKER_ACK),
        gives: &[Verdict::Stuck],
    },
    Ingredient {
        name: "sweep of QUEUED, where the broker forgets",
        prepare: |s| {
            s.broker.loses_on_restart = true;
            s.broker.ack_deadline = Switchable(Some(Span::secs(300)));
            s.broker.redeliver_on_disconnect = false;
        },
        remove: |s| guard(s).sweep_queued_after = Switchable(None),
        witness: |_| {
            vec![
                strike(FaultKind::LoseReply, &steps::BROKER_DELIVER, Phase::Done),
                strike(
                    FaultKind::BrokerRestart,
                    &steps::BROKER_DELIVER,
                    Phase::Before,
                ),
            ]
        },
        gives: &[Verdict::Stuck],
    },
    Ingredient {
        name: "deferral that uses up no delivery",
        prepare: |s| {
            s.broker.max_deliver = MaxDeliver::Times(2);
            // Longer than the work, shorter than any lease.
            s.broker.ack_deadline = Switchable(Some(Span::millis(9_500)));
            s.work.takes = Span::ZERO;
            // The second delivery comes while the lease of the first still runs.
            one_slot(s);
            s.topology.restart_after = Span::secs(1);
        },
        remove: |s| s.broker.deferral_counts = true,
        witness: |_| crash_after(&steps::GUARD_ENTER),
        gives: &[Verdict::Unfinished],
    },
];
