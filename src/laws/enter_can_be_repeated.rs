//! `enter can be repeated`: a lost answer does not lose the run.
//!
//! Requests and answers are lost, up to two of them. A guard that wrote its mark and never heard so is
//! asked again with the same token, and later with another one.

use super::law::{Law, never_done};
use scenarios::spec::FaultKind;

pub(super) static LAW: Law = Law {
    name: "enter can be repeated",
    about: "a lost answer does not lose the run",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'enter-can-be-repeated'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [topology]
        kind = 'queued'
        schedulers = 1
        executors = 2
        [downstream]
        protection = { kind = 'idempotency_key' }
    ",
    handler: None,
    kinds: &[FaultKind::LoseRequest, FaultKind::LoseReply],
    faults: 2,
    breach: never_done,
};
