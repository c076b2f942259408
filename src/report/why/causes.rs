//! A fault as a clause: `executor-1 died before its ack`.

use super::super::Spoken;
use super::story::Story;
use evidence::{Event, Step};
use scenarios::spec::{Fault, FaultKind, Phase};

/// The fault in the past tense, without a full stop.
pub(super) fn clause(story: &Story<'_>, fault: &Fault, strike: &Event) -> String {
    let who = story.who(strike);
    let thing = noun(strike.step);
    let server = server(strike.step);
    let lasts = Spoken::about(fault.magnitude_ms);
    let around = around(fault.site.phase);
    match fault.kind {
        FaultKind::LoseRequest => format!("{who}'s {thing} never reached {server}"),
        FaultKind::LoseReply => {
            format!("{server} had done {who}'s {thing}, but the answer never came back")
        }
        FaultKind::Delay => format!("{who}'s {thing} was {lasts} on the way"),
        FaultKind::DuplicateRequest => format!("{who}'s {thing} reached {server} twice"),
        FaultKind::Refuse => format!("{server} refused {who}'s {thing}"),
        FaultKind::Crash => format!("{who} died {around} its {thing}"),
        FaultKind::Pause => format!("{who} stood still for {lasts} {around} its {thing}"),
        FaultKind::Partition => format!("{who} and {server} were cut off for {lasts}"),
        FaultKind::PartitionToServer => {
            format!("nothing of {who} reached {server} for {lasts}")
        }
        FaultKind::PartitionFromServer => {
            format!("no answer of {server} reached {who} for {lasts}")
        }
        FaultKind::GracefulStop => format!("{who} was told to stop {around} its {thing}"),
        FaultKind::BrokerRestart => "the broker restarted".to_owned(),
        FaultKind::OperatorReplay => "a person replayed the message".to_owned(),
        FaultKind::ClockStep => format!(
            "{who}'s clock jumped {} by {}",
            if fault.magnitude_ms < 0 { "back" } else { "ahead" },
            Spoken::about(fault.magnitude_ms.saturating_abs())
        ),
    }
}

const fn around(phase: Phase) -> &'static str {
    match phase {
        Phase::Before => "before",
        Phase::Request => "in the middle of",
        Phase::Done => "without hearing of",
        Phase::Reply => "right after",
    }
}

/// What an instance does at a step, to stand after `its`.
fn noun(step: &Step) -> &'static str {
    match step.name {
        "timer.wait" => "sleep until the slot",
        "timer.fire" => "timer fired",
        "dispatch.claim" => "claim of the slot",
        "dispatch.claim.read" => "look at the claim",
        "dispatch.claim.write" => "mark on the claim",
        "dispatch.release" => "release of the claim",
        "dispatch.advance" => "advance past the slot",
        "dispatch.resume" => "look at where the timers stand",
        "outbox.read" => "look at the outbox",
        "broker.publish" => "publish",
        "outbox.mark" => "mark in the outbox",
        "broker.deliver" => "poll for messages",
        "guard.enter" => "entry through the guard",
        "guard.enter.read" => "check of the record",
        "guard.enter.write" => "insert of the record",
        "lock.acquire" | "lock.acquire.set" => "hold of the lock",
        "lock.acquire.expire" => "expiry for the lock",
        "lock.renew" => "renewal of the lock",
        "lock.release" => "release of the lock",
        "guard.heartbeat" => "heartbeat",
        "downstream.lookup" => "look-up downstream",
        "downstream.perform" => "call downstream",
        "guard.finish" => "record of the outcome",
        "broker.ack" => "ack",
        "broker.defer" => "deferral",
        "broker.renew" => "renewal of the deadline",
        "broker.reject" => "rejection",
        "recovery.scan" => "scan for unfinished runs",
        "recovery.requeue" => "re-queueing of the run",
        "work" => "work",
        _ => "step",
    }
}

/// Who is called at a step.
fn server(step: &Step) -> &'static str {
    let prefix = step.name.split('.').next().unwrap_or_default();
    match prefix {
        "broker" => "the broker",
        "downstream" => "the downstream",
        "lock" => "the lock service",
        _ => "the database",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_noun_of_its_own() {
        for step in scheduler::steps::ALL.iter().filter(|step| step.name != "instance") {
            assert_ne!(noun(step), "step", "{step}");
        }
    }
}
