//! The hash of a history tells every two executions apart, and nothing else.

use crate::story::*;
use runkey_evidence::*;
use std::sync::Arc;

/// A history that has something of everything.
fn full() -> History {
    let story = story(2)
        .keeps_record()
        .done(1)
        .says(&DEFER, What::Deferred { for_ms: 1000 })
        .says(&FINISH, What::Recorded(RecordState::Dead))
        .says(&ENTER, What::Failed { request: false })
        .fault(&ACK, "crash")
        .held(1, Holder::DeadLetter)
        .listed(2, RecordState::Queued);
    story.history
}

#[test]
fn the_hash_of_a_fixed_history_never_changes() {
    assert_eq!(History::default().hash().to_string(), "92175927bd387223");
    assert_eq!(full().hash().to_string(), "3dfbf6c0720c4c72");
}

#[test]
fn the_bytes_of_a_history_are_the_same_on_every_platform() {
    let mut history = story(1).by(2).message(7).says(&ACK, What::Acked).history;
    history.cast = Arc::default();
    history.planned = Arc::new([]);
    let mut bytes = Vec::new();
    history.hash_with(&mut bytes);
    let expected = [
        &b"runkey history/1"[..],
        &[0; 8 + 8 + 2 + 8],
        // One event: when, who, which life, step, what, which identifiers, slot, message, trace,
        // delivery, attempt, run.
        &1u64.to_le_bytes(),
        &1_767_232_800_000u64.to_le_bytes(),
        &[2, 1, 0, 22, 11, 0b1111, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0],
        &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &31u64.to_le_bytes(),
        b"report@2026-01-01T02:00:00.000Z",
        // The rest: why, when, what is held, what is recorded.
        &[0; 1 + 8 + 8 + 8],
    ]
    .concat();
    assert_eq!(bytes, expected);
}

#[test]
fn a_hash_prints_as_16_digits() {
    assert_eq!(TraceHash(0xab).to_string(), "00000000000000ab");
}

#[test]
fn a_buffer_that_was_used_before_gives_the_same_hash() {
    let mut buffer = vec![7; 1000];
    assert_eq!(full().hash_with(&mut buffer), full().hash());
    assert_eq!(full().hash_with(&mut buffer), full().hash());
}

/// Changes one thing of a history.
type Change = fn(&mut History);

fn assert_each_changes_the_hash(changes: &[Change]) {
    let mut seen = vec![full().hash()];
    for (number, change) in changes.iter().enumerate() {
        let mut history = full();
        change(&mut history);
        let hash = history.hash();
        assert!(!seen.contains(&hash), "change {number} is not seen");
        seen.push(hash);
    }
}

#[test]
fn a_change_of_any_field_of_an_event_changes_the_hash() {
    assert_each_changes_the_hash(&[
        |h| h.events[4].at.0 += 1,
        |h| h.events[4].instance.0 = 2,
        |h| h.events[4].incarnation = 2,
        |h| h.events[4].step = &ENTER,
        |h| h.events[4].what = What::HandlerPanic,
        |h| h.events[4].ids.slot = SlotTag::NONE,
        |h| h.events[4].ids.slot = SlotTag::seal(slot(2)),
        |h| {
            h.events[4].ids.slot = SlotTag::seal(Slot {
                timer: 1,
                ordinal: 1,
            })
        },
        |h| h.events[4].ids.run = None,
        |h| h.events[4].ids.run = Some(run(2)),
        |h| h.events[4].ids.message = None,
        |h| h.events[4].ids.message = Some(MessageId(0)),
        |h| h.events[4].ids.trace = None,
        |h| h.events[4].ids.trace = Some(TraceId(0)),
        |h| h.events[4].ids.delivery = 2,
        |h| h.events[4].ids.attempt = 2,
        |h| h.events[5].what = What::Effect { number: 2 },
        |h| h.events[6].what = What::AttemptEnded(AttemptEnd::Final),
        |h| h.events[8].what = What::Deferred { for_ms: 1001 },
        |h| h.events[9].what = What::Recorded(RecordState::Failed),
        |h| h.events[10].what = What::Failed { request: true },
        |h| fault(h).kind = 6,
        |h| fault(h).name = "pause",
        |h| fault(h).magnitude_ms = -1,
        |h| h.events.swap(3, 4),
        |h| {
            h.events.pop();
        },
    ]);
}

#[test]
fn a_change_of_the_cast_the_plan_or_the_rest_changes_the_hash() {
    assert_each_changes_the_hash(&[
        |h| Arc::make_mut(&mut h.cast).instances[0] = "scheduler-2".into(),
        |h| Arc::make_mut(&mut h.cast).instances.push("".into()),
        |h| Arc::make_mut(&mut h.cast).timers[0] = TimerId::new("other"),
        |h| Arc::make_mut(&mut h.cast).local = true,
        |h| Arc::make_mut(&mut h.cast).keeps_record = false,
        |h| Arc::make_mut(&mut h.planned)[0].slot.timer = 1,
        |h| Arc::make_mut(&mut h.planned)[0].scheduled.0 += 1,
        |h| Arc::make_mut(&mut h.planned)[0].run = run(2),
        |h| h.rest.ended = Ended::Horizon,
        |h| h.rest.at.0 += 1,
        |h| h.rest.held[0].by = Holder::UnackedMessage,
        |h| h.rest.held[0].slot = slot(2),
        |h| h.rest.held.clear(),
        |h| h.rest.records[0].state = RecordState::Created,
        |h| h.rest.records[0].listed = false,
        |h| h.rest.records[0].slot = slot(1),
    ]);
}

#[test]
fn the_words_of_a_fault_do_not_change_the_hash() {
    let mut told = full();
    fault(&mut told).detail = "before broker.ack; back at 02:00:05.240".into();
    assert_ne!(told, full());
    assert_eq!(told.hash(), full().hash());
}

#[test]
fn every_kind_of_event_has_a_number_of_its_own() {
    let kinds = crate::story::every_what();
    let mut numbers: Vec<_> = kinds.iter().map(What::number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..38).collect::<Vec<u8>>());
}

fn fault(history: &mut History) -> &mut FaultNote {
    match &mut history.events[11].what {
        What::Fault(note) => note,
        other => panic!("event 11 is {other:?}"),
    }
}
