//! Topology `routed`: an admin calls executors, and what of a run is in whose memory.

use evidence::{Attribution, Layer, MessageId, Step, Verdict, What};
use runkey_sim::{Outcome, Parts, Reached, Setup, run};
use scenarios::Scenario;
use scenarios::spec::{Fault, FaultKind, Phase, Plan};
use scheduler::marks::{self, Mark};
use scheduler::steps;

fn ready(text: &str) -> Setup {
    let text =
        format!("{text}\n[[timer]]\nid = 'report'\nslots = 1\nschedule = {{ every = '1m' }}\n");
    let scenario = Scenario::parse(&text, "routed").expect("a scenario");
    Setup::new(&scenario, Parts::default()).expect("a set-up")
}

/// One admin, and what `[topology]` says besides.
fn routed(topology: &str, rest: &str) -> Setup {
    ready(&format!(
        "[topology]\nkind = 'routed'\nadmins = 1\n{topology}\n{rest}"
    ))
}

/// What comes of one fault at the first site of a step.
fn struck(setup: &Setup, kind: FaultKind, step: &'static Step, phase: Phase, ms: i64) -> Outcome {
    let sites = run(setup, 1, &Plan::empty()).sites;
    let meant = |it: &&Reached| it.site.step == step.number && it.site.phase == phase;
    let site = sites.iter().find(meant).expect("the step is reached").site;
    let mut plan = Plan::empty();
    plan.faults.push(Fault {
        site,
        kind,
        magnitude_ms: ms,
    });
    let outcome = run(setup, 1, &plan);
    assert_eq!(outcome.took_effect, [true]);
    outcome
}

fn undisturbed(setup: &Setup) -> Outcome {
    run(setup, 1, &Plan::empty())
}

fn verdict(outcome: &Outcome) -> Verdict {
    outcome.judgement.verdict
}

/// Message and delivery of every effect, and who made it.
fn effects(outcome: &Outcome) -> Vec<(u32, u32, String)> {
    let events = outcome.history.events.iter();
    let effects = events.filter(|event| matches!(event.what, What::Effect { .. }));
    effects
        .map(|event| {
            let MessageId(message) = event.ids.message.unwrap_or(MessageId(0));
            let who = outcome.history.cast.instance(event.instance).to_owned();
            (message, event.ids.delivery, who)
        })
        .collect()
}

fn times(outcome: &Outcome, what: &What) -> usize {
    let events = outcome.history.events.iter();
    events.filter(|event| event.what == *what).count()
}

fn reached(outcome: &Outcome, mark: &'static Mark) -> bool {
    outcome.marks.has(mark)
}

#[test]
fn a_run_is_called_once_executed_and_reported() {
    let outcome = undisturbed(&routed("", ""));
    assert_eq!(verdict(&outcome), Verdict::ExactlyOnce);
    assert_eq!(effects(&outcome), [(1, 1, "executor-1".to_owned())]);
    let at = |step: &'static Step| {
        let reached = outcome.sites.iter();
        reached.filter(|it| it.site.step == step.number).count() > 0
    };
    for step in [
        &steps::ADMIN_ROUTE,
        &steps::ADMIN_LOG,
        &steps::ADMIN_CALL,
        &steps::ADMIN_ANSWER,
        &steps::EXECUTOR_ACCEPT,
        &steps::EXECUTOR_REPORT,
    ] {
        assert!(at(step), "{step}");
    }
    assert!(!at(&steps::ADMIN_WATCH));
    assert!(!at(&steps::BROKER_PUBLISH));
}

#[test]
fn a_call_that_arrives_twice_is_two_deliveries_of_one_message() {
    let setup = routed("", "");
    let kind = FaultKind::DuplicateRequest;
    let outcome = struck(&setup, kind, &steps::ADMIN_CALL, Phase::Request, 0);
    let mut made = effects(&outcome);
    made.sort();
    let executor = || "executor-1".to_owned();
    assert_eq!(made, [(1, 1, executor()), (1, 2, executor())]);
    let layer = outcome.judgement.layer.clone();
    assert_eq!(layer, Some(Attribution::Layer(Layer::Delivery)));
    assert_eq!(times(&outcome, &What::Published), 1);
}

#[test]
fn a_lost_answer_is_called_again_only_while_nobody_has_reported() {
    let again = |takes: &str| {
        let setup = routed("retries = 1", &format!("[work]\ntakes = '{takes}'"));
        struck(
            &setup,
            FaultKind::LoseReply,
            &steps::ADMIN_CALL,
            Phase::Done,
            0,
        )
    };
    let slow = again("30s");
    assert_eq!(verdict(&slow), Verdict::Duplicate);
    let layer = slow.judgement.layer.clone();
    assert_eq!(layer, Some(Attribution::Layer(Layer::Publishing)));
    assert!(reached(&slow, &marks::RECALLED_FAILED));
    // The report is there before the admin has given up its call.
    let quick = again("0s");
    assert_eq!(verdict(&quick), Verdict::ExactlyOnce);
    assert!(!reached(&quick, &marks::RECALLED_FAILED));
}

#[test]
fn what_an_executor_has_taken_dies_with_it_unless_it_is_called_again() {
    let crash = |topology: &str| {
        let setup = routed(topology, "[work]\ntakes = '5s'");
        let step = &steps::DOWNSTREAM_PERFORM;
        struck(&setup, FaultKind::Crash, step, Phase::Before, 0)
    };
    assert_eq!(verdict(&crash("")), Verdict::Lost);
    assert_eq!(
        verdict(&crash("retries = 1\nlost_after = 'off'")),
        Verdict::Lost
    );
    let again = crash("retries = 1\nlost_after = '60s'");
    assert_eq!(verdict(&again), Verdict::ExactlyOnce);
    assert_eq!(effects(&again), [(2, 1, "executor-1".to_owned())]);
    assert!(reached(&again, &marks::RECALLED_LOST));
}

#[test]
fn an_executor_that_is_gone_refuses_and_failover_calls_the_next() {
    let away = |route: &str| {
        let setup = routed(
            &format!("route = '{route}'\nexecutors = 2"),
            "[[instance]]\nname = 'executor-1'\nstarts_at = '10m'",
        );
        undisturbed(&setup)
    };
    assert_eq!(verdict(&away("first")), Verdict::Lost);
    let failover = away("failover");
    assert_eq!(effects(&failover), [(1, 1, "executor-2".to_owned())]);
    assert_eq!(effects(&away("last")), [(1, 1, "executor-2".to_owned())]);
}

#[test]
fn an_executor_that_crashes_before_it_has_answered_breaks_the_connection() {
    let setup = routed("", "");
    let step = &steps::EXECUTOR_ACCEPT;
    let outcome = struck(&setup, FaultKind::Crash, step, Phase::Before, 0);
    assert_eq!(verdict(&outcome), Verdict::Lost);
    assert_eq!(times(&outcome, &What::Failed { request: false }), 1);
    assert_eq!(times(&outcome, &What::Published), 0);
}

#[test]
fn a_paused_executor_takes_the_call_when_it_goes_on_and_the_admin_has_given_up() {
    let setup = routed("", "");
    let step = &steps::EXECUTOR_ACCEPT;
    let outcome = struck(&setup, FaultKind::Pause, step, Phase::Before, 8_000);
    assert_eq!(times(&outcome, &What::TimedOut), 1);
    assert_eq!(verdict(&outcome), Verdict::ExactlyOnce);
}

#[test]
fn a_broadcast_is_a_call_of_every_executor() {
    let outcome = undisturbed(&routed("route = 'sharding_broadcast'\nexecutors = 3", ""));
    let mut made = effects(&outcome);
    made.sort();
    let by = |n: u32| (n, 1, format!("executor-{n}"));
    assert_eq!(made, [by(1), by(2), by(3)]);
}

/// Two admins that both dispatch, to one executor that works for 5 s.
fn twice(block: &str, work: &str) -> Outcome {
    undisturbed(&ready(&format!(
        "[topology]\nkind = 'routed'\nadmins = 2\nexecutors = 1\nblock = '{block}'\n\
         [dispatch]\nclaim = {{ kind = 'none' }}\n[work]\ntakes = '5s'\n{work}"
    )))
}

#[test]
fn a_block_strategy_says_what_becomes_of_the_second_call() {
    let serial = twice("serial", "");
    assert_eq!(verdict(&serial), Verdict::Duplicate);
    let discard = twice("discard_later", "");
    assert_eq!(effects(&discard).len(), 1);
    assert_eq!(times(&discard, &What::SkippedByPolicy), 1);
    assert!(reached(&discard, &marks::CALL_DISCARDED));
    let cover = twice("cover_early", "");
    assert_eq!(effects(&cover).len(), 1);
    assert_eq!(times(&cover, &What::AttemptStarted), 2);
    assert!(reached(&cover, &marks::CALL_COVERED));
    let goes_on = twice("cover_early", "ignores_cancel = true");
    assert_eq!(effects(&goes_on).len(), 2);
    assert!(reached(&goes_on, &marks::CANCEL_IGNORED));
}

#[test]
fn an_attempt_that_takes_too_long_is_cancelled_and_reported_as_failed() {
    let timeout = |work: &str| {
        let topology = "executors = 1\ntimeout = '20s'\nretries = 1";
        undisturbed(&routed(topology, &format!("[work]\ntakes = '25s'\n{work}")))
    };
    let stops = timeout("");
    assert_eq!(verdict(&stops), Verdict::Lost);
    assert_eq!(times(&stops, &What::AttemptStarted), 2);
    assert!(reached(&stops, &marks::ATTEMPT_TIMED_OUT));
    let goes_on = timeout("ignores_cancel = true");
    assert_eq!(verdict(&goes_on), Verdict::Duplicate);
}

#[test]
fn a_handler_that_ignores_a_lost_lock_makes_its_effect_all_the_same() {
    let lost = |ignores: bool| {
        let setup = ready(&format!(
            "[guard]\nkind = 'redis_lock'\nttl = '6s'\non_lost = 'cancel'\n\
             [work]\ntakes = '20s'\nignores_cancel = {ignores}"
        ));
        struck(
            &setup,
            FaultKind::Partition,
            &steps::LOCK_RENEW,
            Phase::Before,
            15_000,
        )
    };
    assert!(effects(&lost(true)).len() > effects(&lost(false)).len());
}
