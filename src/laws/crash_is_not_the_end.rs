//! `a crash is not the end`: a run whose holder died is run by somebody in the end.
//!
//! Processes die wherever they can, up to two of them; the broker hands every message over again
//! until it is settled.

use super::law::{Law, never_done};
use scenarios::spec::FaultKind;

pub(super) static LAW: Law = Law {
    name: "a crash is not the end",
    about: "a run whose holder died is run by somebody in the end",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'a-crash-is-not-the-end'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [topology]
        kind = 'queued'
        schedulers = 1
        executors = 2
        [downstream]
        protection = { kind = 'idempotency_key' }
    ",
    handler: None,
    kinds: &[FaultKind::Crash],
    faults: 2,
    breach: never_done,
};
