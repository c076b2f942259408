//! Where a verdict was born, from the identifiers alone, as a person would find it in logs.
//!
//! The seal of a slot is opened only to collect the events of one slot; what follows reads runKey,
//! traceId, messageId, delivery count and retryCount, and which step said what.

use crate::{
    Attribution, Event, History, Holder, Layer, RecordState, Slot, Step, Timestamp, Verdict, What,
};

/// The layer in which the verdict of a slot was born.
///
/// - duplicate: by the first identifier in which the slot's first two effects differ;
/// - phantom, early: scheduling;
/// - misrecorded, unfinished, no_progress: the step that wrote, or failed to write, the last word
///   on the run;
/// - late: the step that the run waited for longest;
/// - overlap, stale_effect: by the identifiers of the slot's first two attempts, as a duplicate;
///   scheduling where the other attempt is another slot's;
/// - everything else: the last step that moved the run on; scheduling where nothing has.
pub fn attribute(history: &History, slot: Slot, verdict: Verdict) -> Attribution {
    let layer = match verdict {
        Verdict::Duplicate => {
            return first_difference(history, slot, |what| matches!(what, What::Effect { .. }));
        }
        Verdict::Overlap | Verdict::StaleEffect => {
            return first_difference(history, slot, |what| matches!(what, What::AttemptStarted));
        }
        Verdict::Phantom | Verdict::Early => Layer::Scheduling,
        Verdict::Misrecorded => last_layer(history, slot, writes_record)
            .or_else(|| last_layer(history, slot, settles_message))
            .unwrap_or_else(|| last_move(history, slot)),
        Verdict::Unfinished | Verdict::NoProgress => {
            last_layer(history, slot, what_is_open(history, slot))
                .unwrap_or_else(|| last_move(history, slot))
        }
        Verdict::Late => longest_wait(history, slot),
        Verdict::Lost
        | Verdict::Stuck
        | Verdict::GaveUp
        | Verdict::Skipped
        | Verdict::ExactlyOnce => last_move(history, slot),
    };
    Attribution::Layer(layer)
}

fn events_of(history: &History, slot: Slot) -> impl DoubleEndedIterator<Item = &Event> {
    history
        .events
        .iter()
        .filter(move |event| event.ids.slot.truth() == Some(slot))
}

/// Compares the first two events of the slot that say `what`.
fn first_difference(history: &History, slot: Slot, what: fn(&What) -> bool) -> Attribution {
    let mut events = events_of(history, slot).filter(|event| what(&event.what));
    match (events.next(), events.next()) {
        (Some(first), Some(second)) => compare(first, second, history.cast.local),
        _ => Attribution::Layer(Layer::Scheduling),
    }
}

/// The layer above the first identifier in which two things of one slot differ.
///
/// An identifier that is missing on either side decides nothing, and what is below it is not
/// looked at. The runKey alone may be missing: a trace belongs to one run.
///
/// Two attempts of one number in two processes are two attempts: where nothing hands a run over, its
/// new owner counts from one again.
fn compare(one: &Event, other: &Event, local: bool) -> Attribution {
    let (first, second) = (&one.ids, &other.ids);
    let elsewhere = (one.instance, one.incarnation) != (other.instance, other.incarnation);
    let missing = |missing| Attribution::Undecided { missing };
    let differ = |layer| Attribution::Layer(layer);
    if let (Some(one), Some(other)) = (&first.run, &second.run)
        && one != other
    {
        return differ(Layer::Scheduling);
    }
    match (first.trace, second.trace) {
        (Some(one), Some(other)) if one != other => return differ(Layer::Scheduling),
        (Some(_), Some(_)) => {}
        _ => return missing("traceId"),
    }
    if !local {
        match (first.message, second.message) {
            (Some(one), Some(other)) if one != other => return differ(Layer::Publishing),
            (Some(_), Some(_)) => {}
            _ => return missing("messageId"),
        }
        match (first.delivery, second.delivery) {
            (0, _) | (_, 0) => return missing("delivery count"),
            (one, other) if one != other => return differ(Layer::Delivery),
            _ => {}
        }
    }
    match (first.attempt, second.attempt) {
        (0, _) | (_, 0) => missing("retryCount"),
        (one, other) if one != other || elsewhere => differ(Layer::Execution),
        _ => differ(Layer::Effect),
    }
}

/// The layer of the last step that moved the run on.
fn last_move(history: &History, slot: Slot) -> Layer {
    moves_of(history, slot)
        .last()
        .map_or(Layer::Scheduling, |event| event.step.layer)
}

/// The layer of the step before which the run waited longest, from its scheduled time to its first
/// effect.
fn longest_wait(history: &History, slot: Slot) -> Layer {
    let planned = history.planned.iter().find(|planned| planned.slot == slot);
    let mut since = planned.map_or(Timestamp::MAX, |planned| planned.scheduled);
    let mut longest = (0, Layer::Scheduling);
    for event in moves_of(history, slot) {
        let waited = event.at.ms_since(since);
        if waited > longest.0 {
            longest = (waited, event.step.layer);
        }
        since = event.at;
        if matches!(event.what, What::Effect { .. }) {
            break;
        }
    }
    longest.1
}

/// The events that moved a run on.
fn moves_of(history: &History, slot: Slot) -> impl Iterator<Item = &Event> {
    let mut underway = false;
    events_of(history, slot).filter(move |event| moves(&event.what, &mut underway))
}

/// Whether an event moved its run on.
///
/// `underway` keeps in mind whether a message of it, or an attempt, exists: what a second scheduler
/// or relay does from then on is a repeat, unless it makes a message of its own.
///
/// A guard, a broker or a downstream that answers "done already" instead of going on counts: that
/// is where the run went no further. What merely follows from it does not: the ack, the rejection,
/// the end of the attempt, the mark of the outbox row, the timer's new position.
fn moves(what: &What, underway: &mut bool) -> bool {
    match what {
        What::Fired | What::Claimed | What::OutboxRead | What::PublishDeduplicated => !*underway,
        // Where there is no message, a guard's answer is the first that is heard of an attempt.
        What::Published
        | What::AttemptStarted
        | What::SkippedDone
        | What::SkippedTaken
        | What::Busy
        | What::GaveUp => {
            *underway = true;
            true
        }
        What::Requeued => {
            *underway = false;
            true
        }
        // That the broker has the message was said by the broker.
        What::Recorded(state) => *state != RecordState::Queued,
        What::SkippedByPolicy
        | What::Delivered
        | What::TakenOver
        | What::Effect { .. }
        | What::Repeated
        | What::Found => true,
        What::ClaimTaken
        | What::Advanced
        | What::Marked
        | What::Deferred { .. }
        | What::Acked
        | What::AckRefused
        | What::DeadLettered
        | What::Dropped
        | What::Renewed
        | What::AttemptEnded(_)
        | What::HandlerPanic
        | What::OwnershipLost
        | What::RecordRefused
        | What::EffectRefused
        | What::NotFound
        | What::TimedOut
        | What::Failed { .. }
        | What::Fault(_)
        | What::Restarted
        | What::Stopped => false,
    }
}

fn last_layer(history: &History, slot: Slot, says: fn(&Event) -> bool) -> Option<Layer> {
    events_of(history, slot)
        .rfind(|event| says(event))
        .map(|event| event.step.layer)
}

/// Tells the events that wrote, or failed to write, what is not final about the run: its outbox
/// row, its record, its message or its attempt.
fn what_is_open(history: &History, slot: Slot) -> fn(&Event) -> bool {
    let held_by = |holders: &[Holder]| {
        let mut held = history.rest.held.iter();
        held.any(|held| held.slot == slot && holders.contains(&held.by))
    };
    let mut records = history.rest.records.iter();
    let recorded =
        records.any(|record| record.slot == slot && record.state == RecordState::Succeeded);
    if held_by(&[Holder::OutboxRow]) {
        writes_outbox
    } else if history.cast.keeps_record && !recorded {
        writes_record
    } else if held_by(&[
        Holder::ReadyMessage,
        Holder::UnackedMessage,
        Holder::DeadLetter,
    ]) {
        settles_message
    } else {
        works
    }
}

fn writes_outbox(event: &Event) -> bool {
    match event.what {
        What::OutboxRead | What::Published | What::PublishDeduplicated | What::Marked => true,
        _ => fails_at(event, &["outbox.read", "broker.publish", "outbox.mark"]),
    }
}

fn writes_record(event: &Event) -> bool {
    match event.what {
        What::Recorded(state) => state != RecordState::Queued,
        What::RecordRefused => true,
        _ => fails_at(event, &["guard.finish"]),
    }
}

fn settles_message(event: &Event) -> bool {
    match event.what {
        What::Published
        | What::Delivered
        | What::Deferred { .. }
        | What::Acked
        | What::AckRefused
        | What::DeadLettered
        | What::Renewed => true,
        _ => fails_at(event, &["broker.ack", "broker.defer", "broker.reject"]),
    }
}

fn works(event: &Event) -> bool {
    matches!(
        event.what,
        What::AttemptStarted | What::AttemptEnded(_) | What::HandlerPanic
    )
}

/// A call that went wrong at one of these steps, by its own word or by a fault's.
fn fails_at(event: &Event, steps: &[&str]) -> bool {
    let Step { name, .. } = event.step;
    matches!(
        event.what,
        What::TimedOut | What::Failed { .. } | What::Fault(_)
    ) && steps.contains(name)
}
