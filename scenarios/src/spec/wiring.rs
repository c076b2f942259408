//! Which steps a scenario has no use for: the other half of "never reached".
//!
//! That a fault never struck at a step proves nothing where the step was never come to. Where the
//! set-up itself is the reason, this says so in words; where it is not, the explorer has to say
//! that no execution came there.

use crate::Scenario;
use crate::file::TopologyKind;
use evidence::Step;
use scheduler::IdentityKey;
use scheduler::dispatch::{ClaimConfig, Cursor, LeaderVia, Order};
use scheduler::effects::ProtectionConfig;
use scheduler::guards::GuardConfig;
use scheduler::ports::Failover;
use scheduler::row_queue::Take;
use scheduler::steps;

/// Why no execution of this scenario comes to a step, in words; `None`: it may.
///
/// A table of what `scheduler` wires together: it may leave out a reason, and a test of the
/// catalogue holds that it gives none for a step that is reached.
pub fn why_absent(step: u8, scenario: &Scenario) -> Option<&'static str> {
    let step = steps::by_number(step)?;
    let (part, _) = step.name.split_once('.').unwrap_or((step.name, ""));
    match part {
        "dispatch" => of_dispatch(step, scenario),
        "outbox" => of_outbox(scenario),
        "worker" => of_worker(step, scenario),
        "timer" => {
            let waits = *step != steps::TIMER_WAIT || !scenario.topology.polls_timers();
            (!waits).then_some("workers poll for timers, and nobody waits for one")
        }
        "broker" => of_broker(step, scenario),
        "guard" | "lock" => of_guard(step, &scenario.guard),
        "downstream" => of_downstream(step, scenario),
        "recovery" => of_recovery(scenario),
        "admin" | "executor" => of_calls(step, scenario),
        "coordinator" => of_coordinator(step, scenario),
        _ => None,
    }
}

const NO_QUEUE: &str = "topology local has no queue";
const NO_BROKER: &str = "workers poll the database, and there is no broker";

fn of_worker(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    let topology = &scenario.topology;
    if *step == steps::WORKER_POLL {
        return (!topology.polls_timers()).then_some("nobody polls for timers that are due");
    }
    if !topology.queues_in_table() {
        return Some("the queue is no table that workers poll");
    }
    let atomic = topology.take == Take::SkipLocked;
    let renews = scenario.broker.renew_every.0.is_some();
    let absent = match *step {
        ref step if *step == steps::WORKER_CLAIM && !atomic => {
            "a row is claimed by a read and a write"
        }
        ref step if *step == steps::WORKER_CLAIM_READ && atomic => "a row is claimed in one call",
        ref step if *step == steps::WORKER_CLAIM_WRITE && atomic => "a row is claimed in one call",
        ref step if *step == steps::WORKER_RENEW && !renews => "the claim of a row is not renewed",
        _ => return None,
    };
    Some(absent)
}

fn in_place(scenario: &Scenario) -> bool {
    scenario.topology.executes_where_it_fires()
}

/// Whether slots are claimed by leadership that is kept there.
fn led_by(via: LeaderVia, scenario: &Scenario) -> bool {
    matches!(&scenario.dispatch.claim, ClaimConfig::Leader(claim) if claim.via == via)
}

fn of_coordinator(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    let Some(coordinator) = &scenario.coordinator else {
        return Some("there is no coordinator");
    };
    let sharded = scenario.topology.kind == TopologyKind::Sharded;
    let leads = led_by(LeaderVia::Coordinator, scenario);
    if *step == steps::COORDINATOR_BEAT {
        return Some("the coordinator's client keeps the session by itself");
    }
    if *step == steps::COORDINATOR_CAMPAIGN {
        return (!leads).then_some("nobody asks the coordinator who leads");
    }
    if [&steps::COORDINATOR_BEGIN, &steps::COORDINATOR_FINISH].contains(&step) {
        let notes = sharded && coordinator.failover != Failover::Off;
        return (!notes).then_some("nothing is failed over, so no work is noted");
    }
    if [&steps::COORDINATOR_SHARDS, &steps::COORDINATOR_TAKE_OVER].contains(&step) {
        return (!sharded).then_some("nothing is sharded");
    }
    (!sharded && !leads).then_some("nobody asks the coordinator")
}

fn of_dispatch(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    let (dispatch, in_place) = (&scenario.dispatch, in_place(scenario));
    let unique = dispatch.claim == ClaimConfig::UniqueRunKey;
    let by_position = dispatch.claim.is_by_position();
    let in_outbox = dispatch.order == Order::Outbox;
    let by_row = led_by(LeaderVia::Database, scenario);
    let stored = dispatch.cursor == Cursor::Stored;
    let leads = matches!(dispatch.claim, ClaimConfig::Leader(_));
    let one_call = dispatch.order == Order::OneTransaction && !in_place;
    let polled = scenario.topology.polls_timers();
    let late = polled && dispatch.order == Order::DispatchThenAdvance;
    if *step == steps::DISPATCH_CLAIM {
        let with_claim = (in_outbox && !in_place) || (polled && !late);
        let writes = creates_record(scenario) || with_claim;
        let unclaimed = dispatch.claim == ClaimConfig::None || leads;
        let moves = leads && stored && in_place;
        let nothing = unclaimed && !by_row && !moves && !writes;
        return match by_position {
            true => Some("the slot is claimed by a read and a write"),
            false => nothing.then_some("nobody claims a slot"),
        };
    }
    if *step == steps::DISPATCH_CLAIM_READ {
        let reads = by_position || (unique && !one_call);
        return (!reads).then_some("the claim has no read of its own");
    }
    if *step == steps::DISPATCH_CLAIM_WRITE {
        return (!by_position).then_some("the claim has no write of its own");
    }
    if *step == steps::DISPATCH_ADVANCE {
        if !stored && !creates_record(scenario) {
            return Some("positions are kept in memory");
        }
        let acquired = matches!(dispatch.claim, ClaimConfig::CompareState(_));
        let with_claim = in_place || in_outbox || (dispatch.claim.moves_position() && !one_call);
        let with_claim = with_claim && !acquired && !late;
        return with_claim.then_some("the position is recorded with the claim");
    }
    if *step == steps::DISPATCH_RESUME {
        let kept = stored && (!in_place || unique || leads || by_position || polled);
        return (!kept).then_some("no position is kept, so none is read");
    }
    if *step == steps::DISPATCH_RENEW {
        return (!by_row).then_some("nobody leads by a row");
    }
    if *step == steps::DISPATCH_RELEASE {
        let held = by_row || matches!(dispatch.claim, ClaimConfig::LockRow(_));
        return (!held).then_some("the claim is not held, so not released");
    }
    None
}

/// Whether the claim makes the record that the guard keeps.
fn creates_record(scenario: &Scenario) -> bool {
    matches!(scenario.guard, GuardConfig::StateMachine(_))
        && scenario.identity.key == IdentityKey::RunKey
}

fn of_outbox(scenario: &Scenario) -> Option<&'static str> {
    match scenario.dispatch.order {
        _ if scenario.topology.kind == TopologyKind::Polled => {
            Some("workers poll the rows themselves, and no relay publishes them")
        }
        _ if in_place(scenario) => Some("topology local has no outbox"),
        Order::Outbox => None,
        _ => Some("the order of dispatch has no outbox"),
    }
}

fn of_broker(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    match scenario.topology.kind {
        TopologyKind::Local | TopologyKind::Sharded => return Some(NO_QUEUE),
        TopologyKind::Polled => return Some(NO_BROKER),
        TopologyKind::Routed => return Some("topology routed has no queue"),
        TopologyKind::Queued => {}
    }
    let renews = *step == steps::BROKER_RENEW && scenario.broker.renew_every.0.is_none();
    renews.then_some("the deadline of a delivery is not renewed")
}

fn of_guard(step: &'static Step, guard: &GuardConfig) -> Option<&'static str> {
    let calls = guard.calls().contains(&step);
    (!calls).then_some("the guard makes no such call")
}

fn of_downstream(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    let looks = matches!(
        scenario.downstream.protection,
        ProtectionConfig::LookupBeforeRetry(_)
    );
    (*step == steps::DOWNSTREAM_LOOKUP && !looks).then_some("the protection looks nothing up")
}

fn of_calls(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    let topology = &scenario.topology;
    if !topology.kind.calls_executors() {
        return Some("nobody calls executors");
    }
    if *step == steps::ADMIN_BEAT {
        return (!topology.route.asks()).then_some("the route asks nobody");
    }
    let watches = [steps::ADMIN_WATCH.number, steps::ADMIN_RECALL.number].contains(&step.number);
    (watches && topology.retries == 0).then_some("nothing is called again")
}

fn of_recovery(scenario: &Scenario) -> Option<&'static str> {
    match scenario.guard {
        GuardConfig::StateMachine(_) if scenario.recovery.enabled => None,
        GuardConfig::StateMachine(_) => Some("recovery is off"),
        _ => Some("the guard keeps no records that recovery could read"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn absent(text: &str) -> Vec<&'static str> {
        let scenario = Scenario::parse(text, "t").unwrap();
        let absent = |step: &&&'static Step| why_absent(step.number, &scenario).is_some();
        steps::ALL
            .iter()
            .filter(absent)
            .map(|step| step.name)
            .collect()
    }

    #[test]
    fn the_recommended_stack_has_no_lock_and_no_look_up() {
        let text = crate::catalogue::find("recommended-stack").unwrap().text;
        assert_eq!(
            absent(text),
            [
                "dispatch.claim.write",
                "dispatch.advance",
                "guard.enter.read",
                "guard.enter.write",
                "lock.acquire",
                "lock.acquire.set",
                "lock.acquire.expire",
                "lock.renew",
                "lock.release",
                "downstream.lookup",
                "broker.renew",
                "dispatch.release",
                "coordinator.join",
                "coordinator.beat",
                "coordinator.campaign",
                "coordinator.shards",
                "coordinator.leave",
                "coordinator.begin",
                "coordinator.finish",
                "coordinator.take_over",
                "dispatch.renew",
                "worker.claim",
                "worker.claim.read",
                "worker.claim.write",
                "worker.done",
                "worker.defer",
                "worker.renew",
                "worker.poll",
                "admin.route",
                "admin.log",
                "admin.beat",
                "admin.call",
                "admin.answer",
                "executor.accept",
                "executor.report",
                "admin.watch",
                "admin.recall",
            ]
        );
    }

    #[test]
    fn instances_that_execute_what_they_fire_have_nothing_between() {
        let absent = absent("[topology]\nkind = 'local'");
        for step in [
            "outbox.read",
            "broker.publish",
            "broker.ack",
            "recovery.scan",
        ] {
            assert!(absent.contains(&step), "{step}");
        }
        for step in ["timer.fire", "work", "downstream.perform"] {
            assert!(!absent.contains(&step), "{step}");
        }
    }

    #[test]
    fn a_step_that_does_not_exist_is_absent_for_no_reason() {
        assert_eq!(why_absent(200, &Scenario::default()), None);
    }
}
