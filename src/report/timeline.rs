//! What happened, line by line: the story of one slot on one screen, or everything.
//!
//! The short form keeps what a reader needs in order to follow the run: where it was fired,
//! published, handed over, what reached the outside world, and every fault. Of a story that is
//! still too long the middle is left out, never a fault or an effect.

use super::{Execution, Spoken};
use evidence::{AttemptEnd, Event, RecordState, Slot, Timestamp, What};
use scheduler::Span;
use std::fmt;

/// Lines that fit on one screen.
pub const ONE_SCREEN: usize = 20;

/// One line of a timeline, or lines left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Something that happened.
    Line(Line),
    /// So many lines left out.
    Gap(usize),
}

/// Something that happened, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What stands out.
    pub mark: Mark,
    /// When.
    pub at: Timestamp,
    /// In which instance.
    pub who: String,
    /// At which step, or which fault.
    pub what: &'static str,
    /// Such as `m1, delivery 2`.
    pub detail: String,
}

/// What stands out in a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    None,
    /// The outside world changed.
    Effect,
    /// A fault struck.
    Fault,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mark::None => " ",
            Mark::Effect => "*",
            Mark::Fault => "!",
        })
    }
}

/// Every event.
pub fn everything(execution: &Execution<'_>) -> Vec<Entry> {
    let events = execution.history.events.iter();
    events
        .map(|event| Entry::Line(line(execution, event)))
        .collect()
}

/// The events that matter for the slot that the execution is told by, and all faults; at most
/// [`ONE_SCREEN`] lines, unless more of them are faults and effects.
pub fn one_screen(execution: &Execution<'_>) -> Vec<Entry> {
    let slot = execution.told().map(|told| told.slot);
    let story: Vec<(Weight, &Event)> = execution
        .history
        .events
        .iter()
        .map(|event| (weight(execution, slot, event), event))
        .filter(|(weight, _)| *weight > Weight::Silent)
        .collect();
    let telling = if story.len() > ONE_SCREEN {
        Weight::Story
    } else {
        Weight::Detail
    };
    let told: Vec<(Weight, &Event)> = story
        .into_iter()
        .filter(|(weight, _)| *weight >= telling)
        .collect();
    shortened(&told)
        .into_iter()
        .map(|part| match part {
            Part::Event(event) => Entry::Line(line(execution, event)),
            Part::Gap(count) => Entry::Gap(count),
        })
        .collect()
}

/// How much an event matters to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Never shown on one screen.
    Silent,
    /// Shown where there is room.
    Detail,
    /// Part of the story.
    Story,
    /// A fault or an effect.
    Key,
}

fn weight(execution: &Execution<'_>, slot: Option<Slot>, event: &Event) -> Weight {
    if matches!(event.what, What::Fault(_)) {
        return Weight::Key;
    }
    // An effect of no slot at all is what a phantom's story is about.
    let event_slot = event.ids.slot.truth().unwrap_or(Slot::NOWHERE);
    if slot != Some(event_slot) {
        return Weight::Silent;
    }
    match event.what {
        What::Effect { .. } => Weight::Key,
        What::Fired if is_given_up(execution, event) => Weight::Silent,
        What::Fired
        | What::SkippedByPolicy
        | What::Published
        | What::Delivered
        | What::DeadLettered
        | What::Dropped
        | What::HandlerPanic
        | What::SkippedDone
        | What::SkippedTaken
        | What::GaveUp
        | What::TakenOver
        | What::OwnershipLost
        | What::Recorded(RecordState::Failed | RecordState::Unknown | RecordState::Dead)
        | What::Repeated
        | What::EffectRefused
        | What::Found
        | What::NotFound
        | What::Requeued
        | What::TimedOut
        | What::AttemptEnded(AttemptEnd::Final | AttemptEnd::Cancelled) => Weight::Story,
        What::PublishDeduplicated
        | What::Deferred { .. }
        | What::AckRefused
        | What::Busy
        | What::RecordRefused
        | What::Failed { .. }
        | What::AttemptEnded(AttemptEnd::Retryable | AttemptEnd::Unknown) => Weight::Detail,
        What::AttemptStarted if execution.history.cast.local => Weight::Story,
        What::AttemptStarted if event.ids.attempt > 1 => Weight::Detail,
        _ => Weight::Silent,
    }
}

/// True if a scheduler fired a slot and then gave way: nothing came of its trace, and something
/// of another's.
fn is_given_up(execution: &Execution<'_>, fired: &Event) -> bool {
    let mut of_slot = execution.history.events.iter().filter(|event| {
        event.ids.slot == fired.ids.slot
            && matches!(event.what, What::Published | What::AttemptStarted)
    });
    let mut any = false;
    let own = of_slot.any(|event| {
        any = true;
        event.ids.trace == fired.ids.trace
    });
    any && !own
}

/// A piece of a shortened story.
enum Part<'a> {
    Event(&'a Event),
    Gap(usize),
}

/// Leaves out the longest stretches without a fault or effect, from the middle of each, until the
/// rest fits.
fn shortened<'a>(told: &[(Weight, &'a Event)]) -> Vec<Part<'a>> {
    let mut kept = vec![true; told.len()];
    let mut shown = told.len();
    while shown > ONE_SCREEN {
        let Some((from, length)) = longest_stretch(told, &kept) else {
            break;
        };
        // One line on either side stays, and one line says how many are gone.
        let leave_out = (shown - ONE_SCREEN + 1).min(length - 2);
        kept[from + 1..from + 1 + leave_out].fill(false);
        shown -= leave_out - 1;
    }
    let mut parts = Vec::new();
    for ((_, event), kept) in told.iter().zip(kept) {
        match (kept, parts.last_mut()) {
            (true, _) => parts.push(Part::Event(event)),
            (false, Some(Part::Gap(count))) => *count += 1,
            (false, _) => parts.push(Part::Gap(1)),
        }
    }
    parts
}

/// The longest run of neighbours that are all shown and none of them a fault or an effect, if it
/// is long enough to lose something by being cut.
fn longest_stretch(told: &[(Weight, &Event)], kept: &[bool]) -> Option<(usize, usize)> {
    let mut longest = (0, 0);
    let mut length = 0;
    for (place, (weight, _)) in told.iter().enumerate() {
        length = if kept[place] && *weight < Weight::Key {
            length + 1
        } else {
            0
        };
        if length > longest.1 {
            longest = (place + 1 - length, length);
        }
    }
    (longest.1 >= 4).then_some(longest)
}

fn line(execution: &Execution<'_>, event: &Event) -> Line {
    let mark = match event.what {
        What::Effect { .. } => Mark::Effect,
        What::Fault(_) => Mark::Fault,
        _ => Mark::None,
    };
    let mut detail = event.describe(&execution.history.cast);
    if let Some(deadline) = passed_deadline(execution, event) {
        detail.push_str(&format!(" (ack deadline {})", Spoken(deadline.as_i64())));
    }
    Line {
        mark,
        at: event.at,
        who: execution.name(event).to_owned(),
        what: event.heading(),
        detail,
    }
}

/// The broker's ack deadline, where it is why a message was handed over again.
fn passed_deadline(execution: &Execution<'_>, again: &Event) -> Option<Span> {
    let deadline = execution.scenario.broker.ack_deadline.0?;
    if again.what != What::Delivered || again.ids.delivery < 2 {
        return None;
    }
    let before = execution.history.events.iter().rfind(|event| {
        event.ids.message == again.ids.message
            && event.ids.delivery + 1 == again.ids.delivery
            && matches!(
                event.what,
                What::Delivered | What::Deferred { .. } | What::Renewed
            )
    })?;
    let waited = again.at.ms_since(before.at);
    let passed = !matches!(before.what, What::Deferred { .. }) && waited >= deadline.as_i64();
    passed.then_some(deadline)
}

#[cfg(test)]
mod tests {
    use super::super::tale::{Tale, tale};
    use super::*;
    use scenarios::spec::Phase;
    use scheduler::steps;

    fn lines(tale: Tale) -> Vec<String> {
        tale.tell(|execution| {
            let entries = one_screen(execution).into_iter();
            entries
                .map(|entry| match entry {
                    Entry::Line(line) => format!(
                        "{} {} {} {} {}",
                        line.mark,
                        line.at.clock(),
                        line.who,
                        line.what,
                        line.detail
                    ),
                    Entry::Gap(count) => format!("... {count}"),
                })
                .collect()
        })
    }

    /// Handed over again and again; each hand-over is one line of the story.
    fn redelivered(mut tale: Tale, deliveries: std::ops::RangeInclusive<u32>) -> Tale {
        for delivery in deliveries {
            tale = tale.after(30_000).delivered(1, delivery);
        }
        tale
    }

    #[test]
    fn the_story_leaves_out_who_gave_way_and_what_goes_without_saying() {
        let tale = tale("")
            .by("scheduler-1")
            .after(12)
            .fired(1, 1)
            .by("scheduler-2")
            .fired(1, 2)
            .says(&steps::DISPATCH_CLAIM, What::ClaimTaken)
            .by("scheduler-1")
            .of(1, 1)
            .after(7)
            .published(1)
            .by("executor-1")
            .delivered(1, 1)
            .attempt(1)
            .effect()
            .acked();
        assert_eq!(
            lines(tale),
            [
                "  02:00:00.012 scheduler-1 timer.fire report@2026-01-01T02:00:00.000Z",
                "  02:00:00.019 scheduler-1 broker.publish m1",
                "  02:00:00.019 executor-1 broker.deliver m1, delivery 1",
                "* 02:00:00.019 executor-1 downstream.perform effect 1",
            ]
        );
    }

    #[test]
    fn a_long_story_loses_its_middle_but_no_fault_and_no_effect() {
        let tale = redelivered(tale("").worked(), 2..=30);
        let tale = tale.crash(&steps::BROKER_ACK, Phase::Before);
        let tale = redelivered(tale, 31..=33).effect();
        let told = lines(tale);
        assert_eq!(told.len(), ONE_SCREEN);
        assert_eq!(
            told[3],
            "* 02:00:00.240 executor-1 downstream.perform effect 1"
        );
        assert_eq!(
            told[4],
            "  02:00:30.240 executor-1 broker.deliver m1, delivery 2 (ack deadline 30 s)"
        );
        assert_eq!(told[5], "... 19");
        assert!(told[6].contains("delivery 22 "), "{}", told[6]);
        assert!(told[15].starts_with("! "), "{}", told[15]);
        assert!(told[19].starts_with("* "), "{}", told[19]);
    }

    #[test]
    fn a_message_given_back_is_not_said_to_have_missed_its_deadline() {
        let tale = tale("")
            .handed_over()
            .says(&steps::BROKER_DEFER, What::Deferred { for_ms: 60_000 })
            .after(60_000)
            .delivered(1, 2);
        assert_eq!(
            lines(tale).last().map(String::as_str),
            Some("  02:01:00.031 executor-1 broker.deliver m1, delivery 2")
        );
    }
}
