//! Why a run never had its effect: lost, stuck, given up.

use super::super::set_up::count;
use super::story::{Story, at, message};
use evidence::{Attribution, Event, Holder, Layer, RecordState, What};
use scenarios::spec::Phase;
use scheduler::IdentityKey;
use scheduler::dispatch::CatchUp;
use scheduler::steps::BROKER_REJECT;

pub(super) fn lost(story: &Story<'_>) -> String {
    match &story.execution.judgement.layer {
        Some(Attribution::Layer(Layer::Scheduling)) => never_dispatched(story),
        Some(Attribution::Layer(Layer::Publishing)) => never_arrived(story),
        Some(Attribution::Layer(Layer::Delivery)) => dropped(story),
        _ => never_done(story),
    }
}

/// The slot became no message.
fn never_dispatched(story: &Story<'_>) -> String {
    let slot = story.slot();
    if let Some(skipped) = story.first(|what| *what == What::SkippedByPolicy) {
        return format!("{} skipped {slot} by policy.", story.who(skipped));
    }
    let cause = story.last_cause();
    let advanced = story.last(|what| *what == What::Advanced);
    let claimed = story.last(|what| *what == What::Claimed);
    let fired = story.last(|what| *what == What::Fired);
    match (advanced, claimed, fired) {
        (Some(event), ..) => format!(
            "{} had moved the timer past {slot}{}; nobody looks at that slot again.",
            story.who(event),
            but(story, event, cause)
        ),
        (None, Some(event), _) => format!(
            "{} had claimed {slot}{}; to everybody else the slot is taken.",
            story.who(event),
            but(story, event, cause)
        ),
        (None, None, Some(_)) if is_claimed_unheard(story) => {
            format!("{}to everybody else {slot} is taken.", because(cause))
        }
        (None, None, Some(event)) => format!(
            "{} fired {slot} at {}{}, and nothing of it was left.",
            story.who(event),
            at(event.at),
            but(story, event, cause)
        ),
        (None, None, None) => match story.all_causes() {
            Some(cause) => match story.execution.scenario.dispatch.catch_up {
                CatchUp::None => format!(
                    "{cause}, so nobody fired {slot}, and who starts again does not look back."
                ),
                CatchUp::All | CatchUp::One => format!(
                    "{cause}, so nobody fired {slot}, and the timers went on with the slots after \
                     it."
                ),
            },
            None => format!("nobody fired {slot}."),
        },
    }
}

/// Whoever claimed the slot was struck before it heard that it had.
fn is_claimed_unheard(story: &Story<'_>) -> bool {
    story.faults.last().is_some_and(|(fault, strike)| {
        strike.step.name.starts_with("dispatch.claim") && fault.site.phase >= Phase::Done
    })
}

/// The message never was the broker's.
fn never_arrived(story: &Story<'_>) -> String {
    match story.last(|what| *what == What::Published) {
        Some(event) => format!(
            "{} had published {}{}; no copy of it is left.",
            story.who(event),
            message(event),
            but(story, event, story.last_cause())
        ),
        None if story.calls_executors() => format!(
            "{}no executor ever took the call of {}, and nobody calls again.",
            because(story.last_cause()),
            story.slot()
        ),
        None => format!(
            "{}the broker never had the message of {}, and nothing sends it again.",
            because(story.last_cause()),
            story.slot()
        ),
    }
}

/// The broker let go of the message.
fn dropped(story: &Story<'_>) -> String {
    let cause = story.last_cause();
    let handed = story.last(|what| *what == What::Delivered);
    match (story.last(|what| *what == What::Dropped), handed) {
        (Some(event), _) => format!(
            "the broker let go of {} at {}{}; no copy of it is left.",
            message(event),
            at(event.at),
            but_somebody(cause)
        ),
        (None, Some(event)) if story.calls_executors() => format!(
            "{} had the call {} in its memory alone from {} on{}; nobody calls again.",
            story.who(event),
            message(event),
            at(event.at),
            but_somebody(cause)
        ),
        (None, Some(event)) => format!(
            "the broker counted {} as done when it handed it to {} at {}{}; nobody else will get it.",
            message(event),
            story.who(event),
            at(event.at),
            but_somebody(cause)
        ),
        (None, None) => format!(
            "{}{} was never handed over.",
            because(cause),
            story.message()
        ),
    }
}

/// The message arrived and was settled, the work was not done.
fn never_done(story: &Story<'_>) -> String {
    let slot = story.slot();
    let repeated = story.last(|what| *what == What::Repeated);
    let skipped = story.last(|what| matches!(what, What::SkippedDone | What::SkippedTaken));
    match (skipped, repeated) {
        (Some(event), _) if mistakes_slots(story) => format!(
            "by the key it compares (timer_id) {slot} looks like an earlier slot that was done, so \
             at {} {} answered \"done\" without running it.",
            at(event.at),
            story.who(event)
        ),
        (Some(event), _) => format!(
            "{}at {} {} found {}, answered \"done\" and let go of {}: nobody will do the work.",
            because(story.last_cause()),
            at(event.at),
            story.who(event),
            found(story, event),
            message(event)
        ),
        (None, Some(event)) => format!(
            "at {} the downstream took {}'s call for a repeat of an earlier one and did nothing.",
            at(event.at),
            story.who(event)
        ),
        (None, None) => match dropped_as_busy(story) {
            Some(told) => told,
            None => left_undone(story),
        },
    }
}

/// What a skipping guard found.
fn found(story: &Story<'_>, skipped: &Event) -> String {
    let earlier = |event: &&&Event| event.at <= skipped.at;
    let mut earlier = story.events.iter().rev().filter(earlier);
    let state = earlier.find_map(|event| match event.what {
        What::Recorded(state) => Some(state),
        _ => None,
    });
    match state {
        Some(state) => format!("the run's record ({state})"),
        None => "the run marked as taken".to_owned(),
    }
}

/// Whoever found the run in other hands dropped it; the other hands did not finish it.
fn dropped_as_busy(story: &Story<'_>) -> Option<String> {
    let busy = story.last(|what| *what == What::Busy)?;
    let later = |event: &&&Event| event.at >= busy.at;
    let mut later = story.events.iter().filter(later);
    // Settled by the one that found it busy: not given back.
    let is_settled = later.any(|event| {
        event.what == What::Acked
            && event.ids.message == busy.ids.message
            && event.ids.delivery == busy.ids.delivery
    });
    if !is_settled && !story.execution.history.cast.local {
        return None;
    }
    let mut earlier = story.events.iter().rev().copied();
    let holder = earlier
        .find(|event| event.what == What::AttemptStarted && event.at <= busy.at)
        .map_or("another", |event| story.who(event));
    let run = match busy.ids.message {
        Some(message) => message.to_string(),
        None => story.slot(),
    };
    let lock = match story.guard() {
        Some("state_machine") => "lease",
        _ => "lock",
    };
    Some(format!(
        "{}at {} {} found {holder}'s {lock} still held and dropped {run}: nobody will do the work.",
        because(story.last_cause()),
        at(busy.at),
        story.who(busy)
    ))
}

/// Somebody began and did not end, or nobody began.
fn left_undone(story: &Story<'_>) -> String {
    let cause = story.last_cause();
    let Some(begun) = story.last(|what| *what == What::AttemptStarted) else {
        return format!("{}nobody did the work of {}.", because(cause), story.slot());
    };
    let acked = story.first(|what| *what == What::Acked);
    let early = match acked {
        Some(acked) if acked.at <= begun.at && acked.ids.message == begun.ids.message => {
            format!(" acked {} at {} and", message(acked), at(acked.at))
        }
        _ => String::new(),
    };
    let stays = match story.record() {
        Some(state) => format!("its record stays {state}, and "),
        None => String::new(),
    };
    format!(
        "{} had{early} begun the work{}; {stays}nobody will do it again.",
        story.who(begun),
        but(story, begun, cause)
    )
}

fn mistakes_slots(story: &Story<'_>) -> bool {
    story.execution.scenario.identity.key == IdentityKey::TimerId && story.told.slot.ordinal > 1
}

pub(super) fn stuck(story: &Story<'_>) -> String {
    let slot = story.slot();
    let message = story.message();
    if story.is_held(Holder::DeadLetter) {
        return format!(
            "{}{} and waits there for a person.",
            because(story.all_causes()),
            dead_letter(story)
        );
    }
    let where_it_is = if story.is_held(Holder::OutboxRow) {
        "its row in the outbox was never sent".to_owned()
    } else if story.is_held(Holder::UnackedMessage) {
        format!("{message} was handed over and never settled")
    } else if story.is_held(Holder::ReadyMessage) {
        format!("{message} waits in the queue and nobody takes it")
    } else if story.is_held(Holder::Attempt) {
        "its attempt never ended".to_owned()
    } else if story.is_held(Holder::ArmedTimer) {
        "its timer is armed and never came to fire it".to_owned()
    } else if let Some(state) = story.record() {
        match story.first(|what| *what == What::Published) {
            Some(_) => format!("its record says {state} and no message of it is left"),
            None => format!("its record says {state} and no message of it was ever published"),
        }
    } else {
        "nothing moves it on".to_owned()
    };
    format!(
        "{}{slot} is not done: {where_it_is}.",
        because(story.last_cause())
    )
}

/// `m1 had used up its 3 deliveries (2 only put off) and became a dead letter at ...`.
pub(super) fn dead_letter(story: &Story<'_>) -> String {
    let parked = story.last(|what| *what == What::DeadLettered);
    let Some(parked) = parked else {
        return format!("{} became a dead letter", story.message());
    };
    if parked.step.number == BROKER_REJECT.number {
        let (message, at) = (message(parked), at(parked.at));
        return format!(
            "{message} was rejected after its last attempt and became a dead letter at {at}"
        );
    }
    let number = |says: &dyn Fn(&What) -> bool| {
        let own = |event: &&&Event| event.ids.message == parked.ids.message;
        let own = story.events.iter().filter(own);
        own.filter(|event| says(&event.what)).count() as u64
    };
    let put_off = match number(&|what| matches!(what, What::Deferred { .. })) {
        0 => String::new(),
        times => format!(" ({times} only put off)"),
    };
    let deliveries = count(number(&|what| *what == What::Delivered), "delivery");
    format!(
        "{} had used up its {deliveries}{put_off} and became a dead letter at {}",
        message(parked),
        at(parked.at)
    )
}

pub(super) fn gave_up(story: &Story<'_>) -> String {
    let slot = story.slot();
    let cause = story.last_cause();
    if story.record() == Some(RecordState::Unknown) {
        return format!(
            "{}the outcome of {slot} is not known, and it was set aside for a person.",
            because(cause)
        );
    }
    let attempts = story.events.iter().map(|event| event.ids.attempt).max();
    let attempts = count(attempts.unwrap_or(0), "attempt");
    let dead = story.first(|what| *what == What::Recorded(RecordState::Dead));
    match dead {
        Some(dead) => format!(
            "{}at {} {} gave {slot} up after {attempts} and recorded it DEAD.",
            because(story.all_causes()),
            at(dead.at),
            story.who(dead)
        ),
        None => format!(
            "{}{slot} was given up after {attempts} and recorded DEAD.",
            because(story.all_causes())
        ),
    }
}

/// `, but <cause>`, or nothing; whoever was named just before is not named again.
fn but(story: &Story<'_>, event: &Event, cause: Option<String>) -> String {
    match cause {
        Some(cause) => {
            let cause = story.cause_of(story.who(event), &cause);
            match cause.strip_prefix("it ") {
                Some(did) => format!(" but {did}"),
                None => format!(", but {cause}"),
            }
        }
        None => String::new(),
    }
}

/// `, but <cause>`, or nothing.
fn but_somebody(cause: Option<String>) -> String {
    cause.map_or_else(String::new, |cause| format!(", but {cause}"))
}

/// `<cause>; `, or nothing.
pub(super) fn because(cause: Option<String>) -> String {
    cause.map_or_else(String::new, |cause| format!("{cause}; "))
}
