//! One execution as a program reads it.

use crate::report::{Execution, why};
use evidence::{AttemptEnd, Cast, Event, What};
use scenarios::spec::{Fault, RunRef};
use serde::Serialize;

/// A result of `run` and `replay`.
#[derive(Serialize)]
pub(in crate::report) struct ExecutionResult<'a> {
    scenario: &'a str,
    seed: u64,
    plan: Vec<WireFault<'a>>,
    token: Option<&'a str>,
    verdict: &'static str,
    layer: Option<String>,
    slots: Vec<WireSlot>,
    trace_hash: String,
    sentence: String,
    events: Vec<WireEvent<'a>>,
}

impl<'a> ExecutionResult<'a> {
    pub fn of(execution: &'a Execution<'a>) -> Self {
        let cast = &execution.history.cast;
        let judgement = execution.judgement;
        ExecutionResult {
            scenario: &execution.scenario.name,
            seed: execution.seed,
            plan: WireFault::of_all(execution),
            token: execution.token,
            verdict: judgement.verdict.name(),
            layer: judgement.layer.as_ref().map(ToString::to_string),
            slots: judgement
                .slots
                .iter()
                .map(|slot| WireSlot {
                    slot: cast.slot(slot.slot),
                    run_key: execution
                        .history
                        .planned
                        .iter()
                        .find(|planned| planned.slot == slot.slot)
                        .map(|planned| planned.run.as_str().to_owned()),
                    verdict: slot.verdict.name(),
                    effects: slot.effects,
                })
                .collect(),
            trace_hash: execution.trace_hash.to_string(),
            sentence: why(execution),
            events: execution
                .history
                .events
                .iter()
                .map(|event| WireEvent::of(event, cast))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct WireSlot {
    slot: String,
    /// Null for a phantom: no run was planned.
    run_key: Option<String>,
    verdict: &'static str,
    effects: u32,
}

/// A fault of a plan.
#[derive(Serialize)]
pub(in crate::report) struct WireFault<'a> {
    kind: &'static str,
    instance: &'a str,
    step: &'static str,
    run: String,
    n: u16,
    phase: &'static str,
    magnitude_ms: i64,
}

impl<'a> WireFault<'a> {
    /// Every fault of an execution's plan.
    pub fn of_all(execution: &'a Execution<'a>) -> Vec<Self> {
        let cast = &execution.history.cast;
        let faults = execution.plan.faults.iter();
        faults.map(|fault| WireFault::of(fault, cast)).collect()
    }

    /// A fault, with the names that a cast gives.
    pub fn of(fault: &Fault, cast: &'a Cast) -> Self {
        WireFault {
            kind: fault.kind.name(),
            instance: cast.instance(fault.site.instance),
            step: scheduler::steps::by_number(fault.site.step).map_or("?", |step| step.name),
            run: match fault.site.run {
                RunRef::None => "-".to_owned(),
                RunRef::Slot(slot) => cast.slot(slot),
            },
            n: fault.site.n,
            phase: fault.site.phase.name(),
            magnitude_ms: fault.magnitude_ms,
        }
    }
}

/// One event, with all identifiers that it has.
#[derive(Serialize)]
pub(in crate::report) struct WireEvent<'a> {
    at: String,
    instance: &'a str,
    incarnation: u16,
    step: &'static str,
    what: &'static str,
    /// What the kind of event does not say: the state recorded, how an attempt ended, the fault.
    detail: Option<String>,
    slot: Option<String>,
    timer_id: Option<&'a str>,
    run_key: Option<&'a str>,
    message_id: Option<String>,
    trace_id: Option<String>,
    /// 0 where there is no delivery.
    delivery: u32,
    /// 0 before the first attempt.
    retry_count: u32,
}

impl<'a> WireEvent<'a> {
    pub fn of(event: &'a Event, cast: &'a Cast) -> Self {
        let slot = event.ids.slot.truth();
        let timer = slot.and_then(|slot| cast.timers.get(usize::from(slot.timer)));
        WireEvent {
            at: event.at.to_string(),
            instance: cast.instance(event.instance),
            incarnation: event.incarnation,
            step: event.step.name,
            what: event.what.name(),
            detail: particulars(&event.what),
            slot: slot.map(|slot| cast.slot(slot)),
            timer_id: timer.map(|timer| timer.as_str()),
            run_key: event.ids.run.as_ref().map(|run| run.as_str()),
            message_id: event.ids.message.map(|message| message.to_string()),
            trace_id: event.ids.trace.map(|trace| trace.to_string()),
            delivery: event.ids.delivery,
            retry_count: event.ids.attempt,
        }
    }
}

fn particulars(what: &What) -> Option<String> {
    Some(match what {
        What::Deferred { for_ms } => format!("{for_ms}ms"),
        What::Effect { number } => number.to_string(),
        What::Recorded(state) => state.name().to_owned(),
        What::AttemptEnded(end) => match end {
            AttemptEnd::Succeeded => "succeeded",
            AttemptEnd::Retryable => "retryable",
            AttemptEnd::Final => "final",
            AttemptEnd::Unknown => "unknown",
            AttemptEnd::Cancelled => "cancelled",
        }
        .to_owned(),
        What::Failed { request: true } => "not_executed".to_owned(),
        What::Failed { request: false } => "unknown".to_owned(),
        What::Fault(note) if note.detail.is_empty() => note.name.to_owned(),
        What::Fault(note) => format!("{} {}", note.name, note.detail),
        _ => return None,
    })
}
