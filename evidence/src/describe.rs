//! The words of a timeline: what stands after the step of an event.

use crate::{AttemptEnd, Cast, Event, What};
use std::time::Duration;

impl Event {
    /// What stands in the timeline's column of steps: the step, or the name of a fault.
    pub const fn heading(&self) -> &'static str {
        match &self.what {
            What::Fault(note) => note.name,
            _ => self.step.name,
        }
    }

    /// What stands after it, such as `m1, delivery 2` or `effect 1`; never empty, except for a
    /// fault that is not being told to anybody.
    pub fn describe(&self, cast: &Cast) -> String {
        match &self.what {
            What::Fired => self.run(cast),
            What::Claimed => "claimed".into(),
            What::ClaimTaken => "another instance has the claim".into(),
            What::Advanced => "position moved past the slot".into(),
            What::SkippedByPolicy => "skipped by policy".into(),
            What::OutboxRead => format!("pending row, {}", self.run(cast)),
            What::Published => self.message(),
            What::PublishDeduplicated => "recognised as a repeat and dropped".into(),
            What::Marked => "row marked as sent".into(),
            What::Delivered => self.delivery(),
            What::Deferred { for_ms } => format!("{}, again in {}", self.message(), span(*for_ms)),
            What::Acked => self.message(),
            What::AckRefused => format!("{}, refused: no longer holds it", self.delivery()),
            What::DeadLettered => format!("{}, dead letter", self.message()),
            What::Dropped => format!("{}, gone", self.message()),
            What::Renewed => format!("{}, deadline extended", self.delivery()),
            What::AttemptStarted => self.attempt(),
            What::AttemptEnded(end) => format!("{} {}", self.attempt(), ended(*end)),
            What::HandlerPanic => format!("{}, handler.panic", self.attempt()),
            What::SkippedDone => "skipped: already done".into(),
            What::SkippedTaken => "skipped: in other hands".into(),
            What::Busy => "busy: in other hands".into(),
            What::GaveUp => format!("given up after {}", self.attempt()),
            What::TakenOver => format!("taken over, {}", self.attempt()),
            What::OwnershipLost => format!("{} has lost its hold", self.attempt()),
            What::Recorded(state) => state.name().into(),
            What::RecordRefused => "not recorded: no longer the owner".into(),
            What::Effect { number } => format!("effect {number}"),
            What::Repeated => "known key: no new effect".into(),
            What::EffectRefused => "refused: no effect".into(),
            What::Found => "effect found".into(),
            What::NotFound => "no effect found".into(),
            What::Requeued => self.run(cast),
            What::TimedOut => "no answer: outcome unknown".into(),
            What::Failed { request: true } => "refused: nothing happened".into(),
            What::Failed { request: false } => "connection broke: outcome unknown".into(),
            What::Fault(note) => note.detail.as_ref().into(),
            What::Restarted => format!("back, life {}", self.incarnation),
            What::Stopped => "stopped in good order".into(),
        }
    }

    fn run(&self, cast: &Cast) -> String {
        match (&self.ids.run, self.ids.slot.truth()) {
            (Some(run), _) => run.as_str().into(),
            (None, Some(slot)) => cast.slot(slot),
            (None, None) => "unknown run".into(),
        }
    }

    fn message(&self) -> String {
        match self.ids.message {
            Some(message) => message.to_string(),
            None => "unknown message".into(),
        }
    }

    fn delivery(&self) -> String {
        format!("{}, delivery {}", self.message(), self.ids.delivery)
    }

    fn attempt(&self) -> String {
        format!("attempt {}", self.ids.attempt)
    }
}

fn span(ms: u32) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_millis(ms.into()))
}

const fn ended(end: AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Succeeded => "succeeded",
        AttemptEnd::Retryable => "failed, worth another",
        AttemptEnd::Final => "failed for good",
        AttemptEnd::Unknown => "ended without an answer",
        AttemptEnd::Cancelled => "was cancelled",
    }
}
