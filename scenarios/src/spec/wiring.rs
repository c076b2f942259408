//! Which steps a scenario has no use for: the other half of "never reached".
//!
//! That a fault never struck at a step proves nothing where the step was never come to. Where the
//! set-up itself is the reason, this says so in words; where it is not, the explorer has to say
//! that no execution came there.

use crate::Scenario;
use evidence::Step;
use scheduler::IdentityKey;
use scheduler::dispatch::{ClaimConfig, Order};
use scheduler::effects::ProtectionConfig;
use scheduler::guards::{Acquire, GuardConfig, InsertWhen, Release, Unlock};
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
        "broker" => of_broker(step, scenario),
        "guard" | "lock" => of_guard(step, &scenario.guard),
        "downstream" => of_downstream(step, scenario),
        "recovery" => of_recovery(scenario),
        "admin" | "executor" => of_calls(step, scenario),
        "coordinator" => {
            let none = scenario.coordinator.is_none();
            none.then_some("there is no coordinator")
        }
        _ => None,
    }
}

const NO_QUEUE: &str = "topology local has no queue";

fn in_place(scenario: &Scenario) -> bool {
    scenario.topology.kind.executes_where_it_fires()
}

fn of_dispatch(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    let (dispatch, in_place) = (&scenario.dispatch, in_place(scenario));
    let unique = dispatch.claim == ClaimConfig::UniqueRunKey;
    let in_outbox = dispatch.order == Order::Outbox;
    let one_call = dispatch.order == Order::OneTransaction && !in_place;
    if *step == steps::DISPATCH_CLAIM {
        let writes = creates_record(scenario) || (in_outbox && !in_place);
        let nothing = dispatch.claim == ClaimConfig::None && !writes;
        return nothing.then_some("nobody claims a slot");
    }
    if *step == steps::DISPATCH_CLAIM_READ {
        return (!unique || one_call).then_some("the claim has no read of its own");
    }
    if *step == steps::DISPATCH_CLAIM_WRITE {
        return Some("the claim has no write of its own");
    }
    if *step == steps::DISPATCH_ADVANCE {
        return (in_place || in_outbox).then_some("the position is recorded with the claim");
    }
    if *step == steps::DISPATCH_RESUME {
        return (in_place && !unique).then_some("no position is kept, so none is read");
    }
    if *step == steps::DISPATCH_RELEASE {
        let held = matches!(dispatch.claim, ClaimConfig::LockRow(_));
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
        _ if in_place(scenario) => Some("topology local has no outbox"),
        Order::Outbox => None,
        _ => Some("the order of dispatch has no outbox"),
    }
}

fn of_broker(step: &Step, scenario: &Scenario) -> Option<&'static str> {
    if scenario.topology.kind.calls_executors() {
        return Some("topology routed has no queue");
    }
    if !scenario.topology.kind.has_broker() {
        return Some(NO_QUEUE);
    }
    let renews = *step == steps::BROKER_RENEW && scenario.broker.renew_every.0.is_none();
    renews.then_some("the deadline of a delivery is not renewed")
}

fn of_guard(step: &Step, guard: &GuardConfig) -> Option<&'static str> {
    let calls = |those: &[(&Step, bool)]| those.iter().any(|(call, made)| *call == step && *made);
    let calls = match guard {
        GuardConfig::None(_) | GuardConfig::ProcessMutex(_) => false,
        GuardConfig::CheckThenInsert(config) => calls(&[
            (&steps::GUARD_ENTER_READ, true),
            (
                &steps::GUARD_ENTER_WRITE,
                config.insert == InsertWhen::Before,
            ),
            (&steps::GUARD_FINISH, true),
        ]),
        GuardConfig::InsertFirst(_) => {
            calls(&[(&steps::GUARD_ENTER, true), (&steps::GUARD_FINISH, true)])
        }
        GuardConfig::LockRow(config) => calls(&[
            (&steps::GUARD_ENTER, true),
            (&steps::GUARD_FINISH, config.release != Release::Off),
        ]),
        GuardConfig::RedisLock(config) => calls(&[
            (&steps::LOCK_ACQUIRE, config.acquire == Acquire::SetNxPx),
            (&steps::LOCK_ACQUIRE_SET, config.acquire == Acquire::TwoStep),
            (
                &steps::LOCK_ACQUIRE_EXPIRE,
                config.acquire == Acquire::TwoStep,
            ),
            (&steps::LOCK_RENEW, config.renewal().is_some()),
            (&steps::LOCK_RELEASE, config.release != Unlock::Off),
        ]),
        GuardConfig::StateMachine(config) => calls(&[
            (&steps::GUARD_ENTER, true),
            (&steps::GUARD_FINISH, true),
            (&steps::GUARD_HEARTBEAT, config.heartbeat.0.is_some()),
        ]),
    };
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
