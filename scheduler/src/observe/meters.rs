//! Counts and durations, per timer and per guard, for the `metrics` recorder of the process.
//!
//! | name | kind | labels | counts |
//! |---|---|---|---|
//! | [`FIRED`] | counter | timer | slots that became runs |
//! | [`ATTEMPTS`] | counter | timer, guard, end | attempts that ended, and how |
//! | [`SKIPPED`] | counter | timer, guard, why | runs that the guard did not let in |
//! | [`ERRORS`] | counter | timer, step | calls without an answer, or refused |
//! | [`DURATION`] | histogram, seconds | timer, guard | from the begin of an attempt to its end, on the monotonic clock |

use super::Who;
use crate::ports::{At, Monotonic};
use evidence::{AttemptEnd, Ids, What};
use metrics::{counter, histogram};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// Slots that became runs.
pub const FIRED: &str = "runkey_fired_total";
/// Attempts that ended, by how.
pub const ATTEMPTS: &str = "runkey_attempts_total";
/// Runs that the guard did not let in, by why.
pub const SKIPPED: &str = "runkey_skipped_total";
/// Calls that failed, by step.
pub const ERRORS: &str = "runkey_errors_total";
/// How long attempts took, in seconds.
pub const DURATION: &str = "runkey_attempt_seconds";

/// The attempts at work, each by trace, message, delivery and number, with its begin.
pub(super) type Running = BTreeMap<(u64, u32, u32, u32), Monotonic>;

fn attempt(ids: &Ids) -> (u64, u32, u32, u32) {
    let trace = ids.trace.map_or(0, |trace| trace.0);
    let message = ids.message.map_or(0, |message| message.0);
    (trace, message, ids.delivery, ids.attempt)
}

fn timer(ids: &Ids) -> String {
    let timer = ids.run.as_ref().map(evidence::RunKey::timer_id);
    timer.map_or_else(String::new, |timer| timer.as_str().to_owned())
}

/// The journal is told of something.
pub(super) fn happened(who: &Who, at: At<'_>, what: &What) {
    let guard = || who.guard.to_string();
    match what {
        What::Fired => counter!(FIRED, "timer" => timer(at.ids)).increment(1),
        What::AttemptStarted => {
            let begin = who.runtime.monotonic();
            let mut running = who.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.insert(attempt(at.ids), begin);
        }
        What::AttemptEnded(end) => {
            let labels = [
                ("timer", timer(at.ids)),
                ("guard", guard()),
                ("end", end_name(*end).to_owned()),
            ];
            counter!(ATTEMPTS, &labels).increment(1);
            let mut running = who.running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(begin) = running.remove(&attempt(at.ids)) {
                let ms = who.runtime.monotonic().0.saturating_sub(begin.0);
                let labels = [("timer", timer(at.ids)), ("guard", guard())];
                histogram!(DURATION, &labels).record(ms as f64 / 1000.0);
            }
        }
        What::SkippedDone | What::SkippedTaken | What::SkippedByPolicy | What::Busy => {
            let labels = [
                ("timer", timer(at.ids)),
                ("guard", guard()),
                ("why", what.name().to_owned()),
            ];
            counter!(SKIPPED, &labels).increment(1);
        }
        What::Failed { .. } | What::TimedOut => {
            let labels = [("timer", timer(at.ids)), ("step", at.step.name.to_owned())];
            counter!(ERRORS, &labels).increment(1);
        }
        _ => {}
    }
}

const fn end_name(end: AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Succeeded => "succeeded",
        AttemptEnd::Retryable => "retryable",
        AttemptEnd::Final => "final",
        AttemptEnd::Unknown => "unknown",
        AttemptEnd::Cancelled => "cancelled",
    }
}
