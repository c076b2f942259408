//! `done stays done`: once a run is finished as succeeded, nobody runs it again.
//!
//! Every run is published twice and taken by one executor, so that the same process is asked again
//! and again; acks are lost, and nobody dies.

use super::law::{Law, begun_again};
use super::witness::DONE;
use scenarios::spec::FaultKind;

pub(super) static LAW: Law = Law {
    name: "done stays done",
    about: "once a run is finished as succeeded, nobody runs it again",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'done-stays-done'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [topology]
        kind = 'queued'
        schedulers = 2
        executors = 1
        [dispatch]
        claim = { kind = 'none' }
        order = 'dispatch_then_advance'
    ",
    handler: None,
    kinds: &[
        FaultKind::LoseRequest,
        FaultKind::LoseReply,
        FaultKind::DuplicateRequest,
    ],
    faults: 2,
    breach: |history| begun_again(history, |what| *what == DONE),
};
