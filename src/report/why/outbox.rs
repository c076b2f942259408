//! A fault that came before the first of two messages: it did not keep a confirm from anybody, it
//! left a row in the outbox that two relays found, or let one relay overtake another.

use super::super::Spoken;
use super::story::{Story, at, message};
use evidence::{Event, What};
use scenarios::spec::{Fault, FaultKind};
use std::ptr;

/// How a run was published twice after a fault; `None` if the fault came after the first publish.
pub(super) fn fault_first(
    story: &Story<'_>,
    (fault, strike): (&Fault, &Event),
    earlier: &Event,
    later: &Event,
) -> Option<String> {
    if !is_before(story, strike, earlier) {
        return None;
    }
    let struck = struck(story, fault, strike);
    let (one, other) = (message(earlier), message(later));
    let (first, second) = (story.who(earlier), story.who(later));
    let (Some(read), Some(read_again)) = (read(story, earlier), read(story, later)) else {
        return Some(format!(
            "{struck}; {first} published {one} at {} and {second} published {other} at {}",
            at(earlier.at),
            at(later.at)
        ));
    };
    let row = format!("the row of {}", story.slot());
    if strike.instance == later.instance && is_before(story, read_again, strike) {
        return Some(format!(
            "{second} had read {row} in the outbox; {}; {first} read it as well and sent it as \
             {one}, and after {} {second} sent it as {other}",
            story.cause_of(second, &struck),
            story.between(earlier, later)
        ));
    }
    let (before, it) = match is_left_behind(story, fault, strike, read, read_again) {
        true => (format!("{struck} and left {row} unsent"), "it"),
        false => (struck, row.as_str()),
    };
    let (from, to) = match is_before(story, read, read_again) {
        true => (read, read_again),
        false => (read_again, read),
    };
    let readers = match earlier.instance == later.instance {
        true => format!("{first} read {it} twice"),
        false => format!("the relays of {first} and {second} both read {it}"),
    };
    let within = match to.at.ms_since(from.at) {
        0 => "at the same time".to_owned(),
        _ => format!("within {}", story.between(from, to)),
    };
    Some(format!(
        "{before}; {readers} {within} and sent it as {one} and {other}"
    ))
}

/// The fault as a clause. Around a step an instance dies "before it heard of it"; next to a
/// publish that came later this would be read as the news of that publish.
fn struck(story: &Story<'_>, fault: &Fault, strike: &Event) -> String {
    let (who, when) = (story.who(strike), at(strike.at));
    match fault.kind {
        FaultKind::Crash => format!("{who} died at {when}"),
        FaultKind::Pause => format!(
            "{who} stood still for {} from {when}",
            Spoken::about(fault.magnitude_ms)
        ),
        FaultKind::GracefulStop => format!("{who} was told to stop at {when}"),
        FaultKind::Partition => format!(
            "{who} was cut off for {} from {when}",
            Spoken::about(fault.magnitude_ms)
        ),
        _ => story.cause(fault, strike),
    }
}

/// Whether who was struck had fired the slot, and nobody had read its row yet.
fn is_left_behind(
    story: &Story<'_>,
    fault: &Fault,
    strike: &Event,
    read: &Event,
    read_again: &Event,
) -> bool {
    let fired = story.first(|what| *what == What::Fired);
    matches!(
        fault.kind,
        FaultKind::Crash | FaultKind::Pause | FaultKind::GracefulStop | FaultKind::Partition
    ) && fired
        .is_some_and(|fired| fired.instance == strike.instance && is_before(story, fired, strike))
        && [read, read_again]
            .into_iter()
            .all(|read| is_before(story, strike, read))
}

/// The look at the outbox that a publish came of.
fn read<'a>(story: &Story<'a>, published: &Event) -> Option<&'a Event> {
    story.events.iter().copied().rfind(|event| {
        event.what == What::OutboxRead
            && event.instance == published.instance
            && event.incarnation == published.incarnation
            && is_before(story, event, published)
    })
}

/// Whether one event of the history comes before another, also within one millisecond.
fn is_before(story: &Story<'_>, one: &Event, other: &Event) -> bool {
    let mut events = story.execution.history.events.iter();
    events.find_map(|event| match () {
        () if ptr::eq(event, other) => Some(false),
        () if ptr::eq(event, one) => Some(true),
        () => None,
    }) == Some(true)
}
