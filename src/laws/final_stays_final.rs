//! `final stays final`: once a run has failed for good, nobody runs it again.
//!
//! The handler says that no further attempt will help. Every run is published twice; answers are lost
//! and processes die.

use super::law::{Law, begun_again};
use super::witness::FAILED;
use scenarios::spec::FaultKind;

pub(super) static LAW: Law = Law {
    name: "final stays final",
    about: "once a run has failed for good, nobody runs it again",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'final-stays-final'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [topology]
        kind = 'queued'
        schedulers = 2
        executors = 1
        [dispatch]
        claim = { kind = 'none' }
        order = 'dispatch_then_advance'
        [work]
        handler = 'fails'
    ",
    handler: None,
    kinds: &[
        FaultKind::LoseRequest,
        FaultKind::LoseReply,
        FaultKind::Crash,
    ],
    faults: 1,
    breach: |history| begun_again(history, |what| *what == FAILED),
};
