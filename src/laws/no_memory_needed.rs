//! `no memory needed`: once a run is finished as succeeded, nobody runs it again, in another process
//! and after a restart.
//!
//! What `done stays done` asks of one process that lives on, this asks of two that die: a guard that
//! remembers in memory keeps the one and breaks the other.

use super::law::{Law, begun_again};
use super::witness::DONE;
use scenarios::spec::FaultKind;

pub(super) static LAW: Law = Law {
    name: "no memory needed",
    about: "once a run is finished as succeeded, nobody runs it again, in another process and after \
            a restart",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'no-memory-needed'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [topology]
        kind = 'queued'
        schedulers = 1
        executors = 2
    ",
    handler: None,
    kinds: &[FaultKind::LoseRequest, FaultKind::Crash],
    faults: 2,
    breach: |history| begun_again(history, |what| *what == DONE),
};
