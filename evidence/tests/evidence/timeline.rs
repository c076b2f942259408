//! What a person reads in a timeline.

use crate::story::*;
use runkey_evidence::*;

fn lines(story: &Story) -> Vec<String> {
    let cast = &story.history.cast;
    let line = |event: &Event| {
        format!(
            "{}  {:<12} {:<19} {}",
            event.at.clock(),
            cast.instance(event.instance),
            event.heading(),
            event.describe(cast)
        )
    };
    story.history.events.iter().map(line).collect()
}

#[test]
fn a_crash_before_the_ack_reads_as_a_story() {
    let mut told = story(1)
        .after(12)
        .says(&FIRE, What::Fired)
        .message(1)
        .after(7)
        .says(&PUBLISH, What::Published)
        .after(12)
        .by(1)
        .delivery(1)
        .says(&DELIVER, What::Delivered)
        .after(209)
        .effect()
        .fault(&ACK, "crash")
        .after(29_791)
        .by(2)
        .delivery(2)
        .says(&DELIVER, What::Delivered);
    if let What::Fault(note) = &mut told.history.events[4].what {
        note.detail = "before broker.ack; back at 02:00:05.240".into();
    }
    assert_eq!(
        lines(&told),
        [
            "02:00:00.012  scheduler-1  timer.fire          report@2026-01-01T02:00:00.000Z",
            "02:00:00.019  scheduler-1  broker.publish      m1",
            "02:00:00.031  executor-1   broker.deliver      m1, delivery 1",
            "02:00:00.240  executor-1   downstream.perform  effect 1",
            "02:00:00.240  executor-1   crash               before broker.ack; back at 02:00:05.240",
            "02:00:30.031  executor-2   broker.deliver      m1, delivery 2",
        ]
    );
}

#[test]
fn an_event_without_identifiers_still_reads() {
    let mut told = story(1)
        .says(&FIRE, What::Fired)
        .says(&PUBLISH, What::Published)
        .says(&DEFER, What::Deferred { for_ms: 1500 });
    told.history.events[0].ids.run = None;
    told.history.events[2].instance = InstanceId(9);
    assert_eq!(
        lines(&told),
        [
            "02:00:00.000  scheduler-1  timer.fire          report#1",
            "02:00:00.000  scheduler-1  broker.publish      unknown message",
            "02:00:00.000  ?            broker.defer        unknown message, again in 1s 500ms",
        ]
    );
}

#[test]
fn a_slot_of_a_timer_beyond_the_cast_has_no_name() {
    let cast = story(1).history.cast;
    assert_eq!(cast.slot(slot(2)), "report#2");
    assert_eq!(
        cast.slot(Slot {
            timer: 7,
            ordinal: 1
        }),
        "?#1"
    );
}

#[test]
fn machine_names_are_in_snake_case() {
    assert_eq!(What::Fired.name(), "fired");
    assert_eq!(What::SkippedByPolicy.name(), "skipped_by_policy");
    assert_eq!(
        What::AttemptEnded(AttemptEnd::Final).name(),
        "attempt_ended"
    );
    assert_eq!(What::Stopped.name(), "stopped");
    assert_eq!(What::Stopped.number(), 37);
}
