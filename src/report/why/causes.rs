//! A fault as a clause: `executor-1 died before it acked`.

use super::super::Spoken;
use super::story::{Story, at};
use evidence::{Event, Step};
use scenarios::spec::{Fault, FaultKind, Phase, Server, applies};
use scheduler::dispatch::Order;

/// The fault in the past tense, without a full stop.
pub(super) fn clause(story: &Story<'_>, fault: &Fault, strike: &Event) -> String {
    let who = story.who(strike);
    let server = server(strike.step);
    let words = words_in(story, strike.step);
    let request = words.request;
    let lasts = Spoken::about(fault.magnitude_ms);
    let when = || when(strike.step, &words, fault.site.phase);
    match fault.kind {
        FaultKind::LoseRequest => format!("{who}'s {request} never reached {server}"),
        FaultKind::LoseReply => format!("the reply to {who}'s {request} was lost"),
        FaultKind::Delay => format!("{who}'s {request} was {lasts} on its way"),
        FaultKind::DuplicateRequest => format!("{who}'s {request} reached {server} twice"),
        FaultKind::Refuse => format!("{server} refused {who}'s {request}"),
        FaultKind::Crash => format!("{who} died{} {}", moment(strike), when()),
        FaultKind::Pause => format!("{who} stood still for {lasts} {}", when()),
        FaultKind::Partition => format!("{who} was cut off from {server} for {lasts} {}", when()),
        FaultKind::PartitionToServer => {
            format!("nothing of {who} reached {server} for {lasts}")
        }
        FaultKind::PartitionFromServer => {
            format!("no answer of {server} reached {who} for {lasts}")
        }
        FaultKind::GracefulStop => format!("{who} was told to stop {}", when()),
        FaultKind::BrokerRestart => format!("the broker restarted at {}", at(strike.at)),
        FaultKind::LockRestart => {
            format!("the lock service restarted at {}", at(strike.at))
        }
        FaultKind::LockFailover => format!(
            "a replica of the lock service took over at {} without the last {lasts}",
            at(strike.at)
        ),
        FaultKind::DatabaseFailover => format!(
            "a standby of the database took over at {} without the last {lasts}",
            at(strike.at)
        ),
        FaultKind::BrokerFailover => format!(
            "a replica of the broker took over at {} without the last {lasts}",
            at(strike.at)
        ),
        FaultKind::DeadLetterReplay => format!(
            "a person put the dead letters back into the queue at {}",
            at(strike.at)
        ),
        FaultKind::DatabaseRestart => format!("the database restarted at {}", at(strike.at)),
        FaultKind::SessionLoss => format!("the coordinator forgot {who}'s session {}", when()),
        FaultKind::Purge => format!("the downstream forgot its keys at {}", at(strike.at)),
        FaultKind::OperatorReplay => format!("a person replayed the message at {}", at(strike.at)),
        FaultKind::ClockStep => format!(
            "{who}'s clock jumped {} by {}",
            if fault.magnitude_ms < 0 {
                "back"
            } else {
                "ahead"
            },
            Spoken::about(fault.magnitude_ms.saturating_abs())
        ),
    }
}

/// When a fault struck, as [`clause`] says it of a crash: ` at 02:00:00.218,`.
pub(super) fn moment(strike: &Event) -> String {
    format!(" at {},", at(strike.at))
}

/// Where around a step an instance was struck.
fn when(step: &Step, words: &Words, phase: Phase) -> String {
    let Words { request, deed } = words;
    match (step.name, phase) {
        ("timer.wait", Phase::Request) => "in its sleep before the slot".to_owned(),
        ("timer.wait", Phase::Done | Phase::Reply) => "as it woke for the slot".to_owned(),
        (_, Phase::Before) => format!("before it {deed}"),
        (_, Phase::Request) => format!("while it {deed}"),
        (_, Phase::Done) => format!("once its {request} was done, before it heard of it"),
        (_, Phase::Reply) => format!("right after it {deed}"),
    }
}

/// What an instance does at a step.
struct Words {
    /// Its request, to stand after `its`.
    request: &'static str,
    /// What it did, to stand after `it`.
    deed: &'static str,
}

/// In one transaction the new position is the commit.
fn words_in(story: &Story<'_>, step: &Step) -> Words {
    match (story.execution.scenario.dispatch.order, step.name) {
        (Order::OneTransaction, "dispatch.advance") => Words {
            request: "commit",
            deed: "committed",
        },
        _ => words(step),
    }
}

fn words(step: &Step) -> Words {
    let (request, deed) = match step.name {
        "timer.wait" => ("sleep", "slept until the slot"),
        "timer.fire" => ("timer", "fired the slot"),
        "dispatch.claim" => ("claim", "claimed the slot"),
        "dispatch.claim.read" => ("look at the claim", "looked at the claim"),
        "dispatch.claim.write" => ("claim", "claimed the slot"),
        "dispatch.release" => ("release of the claim", "released its claim"),
        "dispatch.advance" => ("new position", "moved the timer past the slot"),
        "dispatch.resume" => ("look at the timers", "looked where its timers stand"),
        "outbox.read" => ("look at the outbox", "looked at the outbox"),
        "broker.publish" => ("publish", "published"),
        "outbox.mark" => ("mark in the outbox", "marked the outbox row as sent"),
        "broker.deliver" => ("poll", "received a message"),
        "guard.enter" => ("entry in the record", "asked its guard"),
        "guard.enter.read" => ("look at the record", "looked at the record"),
        "guard.enter.write" => ("entry in the record", "put its entry in the record"),
        "lock.acquire" => ("claim of the lock", "took the lock"),
        "lock.acquire.set" => ("claim of the lock", "took the lock"),
        "lock.acquire.expire" => ("expiry for the lock", "gave the lock its expiry"),
        "lock.renew" => ("renewal of the lock", "renewed its lock"),
        "lock.release" => ("release of the lock", "released the lock"),
        "guard.heartbeat" => ("heartbeat", "sent its heartbeat"),
        "downstream.lookup" => ("look-up", "looked up the effect"),
        "downstream.perform" => ("call", "called the downstream"),
        "guard.finish" => ("record of the outcome", "recorded the outcome"),
        "broker.ack" => ("ack", "acked"),
        "broker.defer" => ("deferral", "gave the message back"),
        "broker.renew" => ("renewal of the deadline", "extended its deadline"),
        "broker.reject" => ("rejection", "rejected the message"),
        "recovery.scan" => ("scan", "looked for unfinished runs"),
        "recovery.requeue" => ("re-queueing", "re-queued the run"),
        "coordinator.join" => ("joining", "joined"),
        "coordinator.beat" => ("beat", "said that it was there"),
        "coordinator.campaign" => ("candidacy", "asked to lead"),
        "coordinator.shards" => ("question for its shards", "asked for its shards"),
        "coordinator.leave" => ("leave", "left"),
        "coordinator.begin" => ("note of the begin", "noted that the run begins"),
        "coordinator.finish" => ("note of the end", "noted that the run is done"),
        "coordinator.take_over" => ("takeover", "took over what was left behind"),
        "dispatch.renew" => ("renewal of its lease", "extended its lease"),
        "worker.claim" => ("claim of a row", "claimed the row"),
        "worker.claim.read" => ("look for a row", "looked for a row"),
        "worker.claim.write" => ("claim of the row", "claimed the row"),
        "worker.done" => ("settling of the row", "settled the row"),
        "worker.defer" => ("deferral", "gave the row back"),
        "worker.renew" => ("heartbeat", "extended its claim"),
        "worker.poll" => ("look for due timers", "looked which timers are due"),
        "admin.route" => ("choice of an executor", "chose an executor"),
        "admin.log" => ("row of the call", "wrote the row of the call"),
        "admin.beat" => ("question who is there", "asked who is there"),
        "admin.call" => ("call", "called the executor"),
        "admin.answer" => ("answer to the call", "wrote down the answer to the call"),
        "executor.accept" => ("acceptance of the call", "took the call"),
        "executor.report" => ("report", "reported how the run ended"),
        "admin.watch" => ("look for failed calls", "looked for failed calls"),
        "admin.recall" => ("claim of the failed call", "took the failed call"),
        "work" => ("work", "began the work"),
        _ => ("step", "went on"),
    };
    Words { request, deed }
}

/// Who is called at a step.
fn server(step: &Step) -> &'static str {
    match applies::server_of(step.number) {
        Some(Server::Broker) => "the broker",
        Some(Server::Downstream) => "the downstream",
        Some(Server::Lock) => "the lock service",
        Some(Server::Coordinator) => "the coordinator",
        Some(Server::Executors) => "the executor",
        Some(Server::Database) | None => "the database",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_words_of_its_own() {
        for step in scheduler::steps::ALL
            .iter()
            .filter(|step| step.name != "instance")
        {
            assert_ne!(words(step).deed, "went on", "{step}");
        }
    }
}
