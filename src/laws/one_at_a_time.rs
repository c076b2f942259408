//! `one at a time`: while an attempt is at work, no other begins for the same key.
//!
//! Two schedulers publish every run twice, two executors take the messages at the same moment, and
//! the work lasts a second. Messages are lost and repeated and processes die; nothing stands still,
//! so that no lease ends while its owner lives.

use super::law::{Breach, Law};
use evidence::{Event, History, What};
use scenarios::spec::FaultKind;

pub(super) static LAW: Law = Law {
    name: "one at a time",
    about: "while an attempt is at work, no other begins for the same key",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'one-at-a-time'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [dispatch]
        claim = { kind = 'none' }
        order = 'dispatch_then_advance'
        [work]
        takes = '1s'
        [downstream]
        protection = { kind = 'idempotency_key' }
        [judge]
        overlap = true
    ",
    handler: None,
    kinds: &[
        FaultKind::LoseRequest,
        FaultKind::LoseReply,
        FaultKind::DuplicateRequest,
        FaultKind::Crash,
    ],
    faults: 1,
    breach,
};

fn breach(history: &History) -> Option<Breach> {
    let mut open: Vec<usize> = Vec::new();
    for (place, event) in history.events.iter().enumerate() {
        let same_run = |other: &&usize| history.events[**other].ids.slot == event.ids.slot;
        match event.what {
            What::AttemptStarted => {
                if let Some(other) = open.iter().find(same_run) {
                    return Some(Breach::Beside {
                        began: place,
                        other: *other,
                    });
                }
                open.push(place);
            }
            What::AttemptEnded(_) => open.retain(|other| {
                let began = &history.events[*other];
                began.instance != event.instance || began.ids.slot != event.ids.slot
            }),
            _ if ends_process(event) => {
                open.retain(|other| history.events[*other].instance != event.instance);
            }
            _ => {}
        }
    }
    None
}

fn ends_process(event: &Event) -> bool {
    match &event.what {
        What::Fault(note) => note.kind == FaultKind::Crash as u8,
        What::Restarted | What::Stopped => true,
        _ => false,
    }
}
