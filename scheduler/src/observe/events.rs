//! Log lines: the start, the end and the error of every step, and everything that happened, each
//! with all identifiers.
//!
//! | field | what |
//! |---|---|
//! | `step` | the step of the pipeline, such as `downstream.perform` |
//! | `phase` | `start`, `end` or `error` of a step; `happened` for an entry of the journal |
//! | `what` | `happened`: what it was, such as `attempt_started` |
//! | `error` | `error`: what is known of the call, in words |
//! | `timer_id`, `run_key`, `message_id`, `trace_id`, `retry_count`, `delivery_count` | the identifiers; left out where there is none yet |
//! | `instance`, `incarnation` | who, and in which life |
//! | `at` | the wall clock of that instance |
//!
//! Steps are told at DEBUG, what happened at INFO, errors at WARN, all under the target [`TARGET`].

use super::Who;
use crate::ports::{At, CallError};
use evidence::What;
use tracing::field::{DisplayValue, display};

/// The target of every event.
pub const TARGET: &str = "runkey";

macro_rules! event {
    ($level:ident, $who:expr, $at:expr, $phase:literal $(, $field:ident = $value:expr)*) => {{
        let (who, at): (&Who, At<'_>) = ($who, $at);
        let ids = at.ids;
        let timer = ids.run.as_ref().map(evidence::RunKey::timer_id);
        tracing::$level!(
            target: TARGET,
            step = at.step.name,
            phase = $phase,
            $($field = $value,)*
            timer_id = shown(timer.as_ref()),
            run_key = shown(ids.run.as_ref()),
            message_id = shown(ids.message.as_ref()),
            trace_id = shown(ids.trace.as_ref()),
            retry_count = ids.attempt,
            delivery_count = ids.delivery,
            instance = &*who.instance,
            incarnation = who.incarnation,
            at = display(who.clock.now()),
        );
    }};
}

fn shown<T: std::fmt::Display>(value: Option<T>) -> Option<DisplayValue<T>> {
    value.map(display)
}

/// A step begins.
pub(super) fn start(who: &Who, at: At<'_>) {
    event!(debug, who, at, "start");
}

/// A step ends: well, or with an error.
pub(super) fn end(who: &Who, at: At<'_>, error: Option<CallError>) {
    match error {
        None => event!(debug, who, at, "end"),
        Some(error) => event!(warn, who, at, "error", error = display(error)),
    }
}

/// The journal is told of something.
pub(super) fn happened(who: &Who, at: At<'_>, what: &What) {
    event!(info, who, at, "happened", what = what.name());
}
