//! Random histories.

use proptest::prelude::*;
use runkey_evidence::*;
use std::sync::Arc;

static STEP: Step = Step {
    number: 0,
    name: "step",
    layer: Layer::Scheduling,
};

fn slots() -> impl Strategy<Value = Slot> {
    (0..2u16, 1..4u32).prop_map(|(timer, ordinal)| Slot { timer, ordinal })
}

fn whats() -> impl Strategy<Value = What> {
    let fault = |name| {
        What::Fault(FaultNote {
            kind: 0,
            name,
            detail: "".into(),
            magnitude_ms: 0,
        })
    };
    prop_oneof![
        6 => Just(What::Effect { number: 1 }),
        4 => Just(What::AttemptStarted),
        3 => Just(What::AttemptEnded(AttemptEnd::Succeeded)),
        3 => Just(What::SkippedByPolicy),
        5 => prop::sample::select(vec![
            What::Published, What::Requeued, What::TakenOver, What::HandlerPanic, What::Restarted,
            What::Stopped, What::Acked, fault("crash"), fault("pause"),
        ]),
    ]
}

fn ids() -> impl Strategy<Value = Ids> {
    let maybe = prop::option::weighted::<std::ops::Range<u32>>;
    (
        prop::option::weighted(0.95, slots()),
        maybe(0.9, 1..3),
        maybe(0.7, 1..3),
        maybe(0.9, 1..3),
        0..3u32,
        0..3u32,
    )
        .prop_map(|(slot, run, message, trace, delivery, attempt)| Ids {
            slot: slot.map_or(SlotTag::NONE, SlotTag::seal),
            run: run.map(|n| RunKey::new(&TimerId::new("t"), Timestamp(n.into())).unwrap()),
            message: message.map(MessageId),
            trace: trace.map(|n| TraceId(n.into())),
            delivery,
            attempt,
        })
}

fn events() -> impl Strategy<Value = Event> {
    (-40..120i64, 0..2u8, 1..3u16, whats(), ids()).prop_map(
        |(at, instance, incarnation, what, ids)| Event {
            at: Timestamp(at),
            instance: InstanceId(instance),
            incarnation,
            step: &STEP,
            what,
            ids,
        },
    )
}

fn rests() -> impl Strategy<Value = Rest> {
    let holders = prop::sample::select(vec![
        Holder::ReadyMessage,
        Holder::UnackedMessage,
        Holder::DeadLetter,
        Holder::OutboxRow,
        Holder::Attempt,
        Holder::ArmedTimer,
    ]);
    let states = prop::sample::select(vec![
        RecordState::Created,
        RecordState::Queued,
        RecordState::Running,
        RecordState::Succeeded,
        RecordState::Succeeded,
        RecordState::Failed,
        RecordState::Unknown,
        RecordState::Dead,
    ]);
    let ended = prop::sample::select(vec![Ended::Settled, Ended::Horizon, Ended::Livelock]);
    let held = prop::collection::vec(
        (slots(), holders).prop_map(|(slot, by)| Held { slot, by }),
        0..3,
    );
    let record = (slots(), states, any::<bool>());
    let record = record.prop_map(|(slot, state, listed)| RecordAtRest {
        slot,
        state,
        listed,
    });
    (ended, held, prop::collection::vec(record, 0..5)).prop_map(|(ended, held, records)| Rest {
        ended,
        at: Timestamp(1000),
        held,
        records,
    })
}

/// Any history: up to 13 events of up to 6 slots of 2 timers, with few enough identifiers that
/// everything collides.
pub fn histories() -> impl Strategy<Value = History> {
    let planned = prop::collection::btree_set(slots(), 0..6);
    let flags = any::<(bool, bool)>();
    (
        planned,
        flags,
        prop::collection::vec(events(), 0..14),
        rests(),
    )
        .prop_map(|(planned, flags, events, rest)| {
            let cast = Cast {
                local: flags.0,
                keeps_record: flags.1,
                ..Cast::default()
            };
            let planned = planned.into_iter().map(|slot| Planned {
                slot,
                scheduled: Timestamp(i64::from(slot.ordinal) * 10),
                run: RunKey::new(&TimerId::new("t"), Timestamp(slot.ordinal.into())).unwrap(),
            });
            History {
                cast: Arc::new(cast),
                planned: planned.collect(),
                events,
                rest,
            }
        })
}

/// Any `[judge]` table.
pub fn judgings() -> impl Strategy<Value = Judging> {
    let promises = prop::sample::select(vec![
        Promise::ExactlyOnce,
        Promise::AtLeastOnce,
        Promise::AtMostOnce,
    ]);
    (
        promises,
        any::<(bool, bool, bool, bool)>(),
        prop::option::of(0..80u64),
    )
        .prop_map(|(promise, flags, tolerance)| Judging {
            promise,
            skipped: if flags.0 {
                SkippedAs::Lost
            } else {
                SkippedAs::Ok
            },
            gave_up: if flags.1 {
                GaveUpAs::Ok
            } else {
                GaveUpAs::Failure
            },
            tolerance,
            overlap: flags.2,
            stale: flags.3,
        })
}
