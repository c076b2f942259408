//! Verdicts of runs that did have their effect, and of slots without a failure.

use super::super::Spoken;
use super::super::set_up::count;
use super::missing::{because, dead_letter};
use super::story::{Story, at};
use evidence::{Ended, Holder, What};

pub(super) fn misrecorded(story: &Story<'_>) -> String {
    let slot = story.slot();
    let record = story
        .record()
        .map_or_else(|| "a dead letter".to_owned(), |state| state.to_string());
    let cause = story.last_cause();
    match story.effects().next() {
        Some(effect) => format!(
            "{} had its effect at {}{}; it is recorded as {record}, and whoever replays it makes \
             the next duplicate.",
            slot,
            at(effect.at),
            cause.map_or_else(String::new, |cause| format!(", but {cause}"))
        ),
        None => format!(
            "{}{slot} is recorded as {record}, and its effect never happened.",
            because(cause)
        ),
    }
}

pub(super) fn unfinished(story: &Story<'_>) -> String {
    let slot = story.slot();
    if let (true, Some(effect)) = (story.is_held(Holder::DeadLetter), story.effects().next()) {
        return format!(
            "{}{}, asking again for {slot}, which had its effect at {}.",
            because(story.all_causes()),
            dead_letter(story),
            at(effect.at)
        );
    }
    let open = if story.is_held(Holder::OutboxRow) {
        "its row in the outbox stays pending".to_owned()
    } else if story.is_held(Holder::UnackedMessage) {
        format!("{} stays unsettled", story.message())
    } else if story.is_held(Holder::ReadyMessage) {
        format!("{} stays in the queue", story.message())
    } else if story.is_held(Holder::Attempt) {
        "its attempt never ends".to_owned()
    } else if let Some(state) = story.record() {
        format!("its record stays {state}")
    } else {
        "nobody wrote down that it is done".to_owned()
    };
    let happened = match story.effects().next() {
        Some(effect) => format!("{slot} had its effect at {}", at(effect.at)),
        None => format!("{slot} was done"),
    };
    match story.last_cause() {
        Some(cause) => format!("{happened}, but {cause}; {open}."),
        None => format!("{happened}, but {open}."),
    }
}

pub(super) fn no_progress(story: &Story<'_>) -> String {
    let cause = because(story.last_cause());
    format!(
        "{cause}{} goes round without end: {} and {} until {}, and none is the last.",
        story.slot(),
        count(story.number(|what| *what == What::Delivered), "delivery"),
        count(
            story.number(|what| *what == What::AttemptStarted),
            "attempt"
        ),
        at(story.execution.history.rest.at)
    )
}

pub(super) fn phantom(story: &Story<'_>) -> String {
    let events = story.execution.history.events.iter();
    let own = events.filter(|event| {
        let slot = event.ids.slot.truth().unwrap_or(evidence::Slot::NOWHERE);
        slot == story.told.slot && matches!(event.what, What::Effect { .. })
    });
    match own.into_iter().next() {
        Some(effect) => format!(
            "{} made an effect at {} for which no slot was due.",
            story.who(effect),
            at(effect.at)
        ),
        None => "an effect happened for which no slot was due.".to_owned(),
    }
}

pub(super) fn early(story: &Story<'_>) -> String {
    punctual(story, "before")
}

pub(super) fn late(story: &Story<'_>) -> String {
    punctual(story, "after")
}

fn punctual(story: &Story<'_>, side: &str) -> String {
    let planned = &story.execution.history.planned;
    let planned = planned
        .iter()
        .find(|planned| planned.slot == story.told.slot);
    let cause = because(story.last_cause());
    match (story.effects().next(), planned) {
        (Some(effect), Some(planned)) => format!(
            "{cause}{} had its effect {} {side} its scheduled time.",
            story.slot(),
            Spoken::about(effect.at.ms_since(planned.scheduled).saturating_abs())
        ),
        _ => format!("{cause}{} did not happen in time.", story.slot()),
    }
}

pub(super) fn skipped(story: &Story<'_>) -> String {
    match story.last(|what| *what == What::SkippedByPolicy) {
        Some(event) => format!(
            "{} skipped {} at {}, as the scenario declares.",
            story.who(event),
            story.slot(),
            at(event.at)
        ),
        None => format!("{} was skipped, as the scenario declares.", story.slot()),
    }
}

pub(super) fn exactly_once(story: &Story<'_>) -> String {
    let all = "every slot had its effect once and came to rest";
    let in_time = match story.execution.history.rest.ended {
        Ended::Settled => "",
        Ended::Horizon | Ended::Livelock => " as far as this execution goes",
    };
    match story.last_cause() {
        Some(cause) => format!("{cause}, and still {all}{in_time}."),
        None => format!("{all}{in_time}."),
    }
}
