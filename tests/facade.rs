//! A test's own guard, handler and outside world, checked.
#![allow(clippy::unwrap_used)]

use runkey::evidence::{Attribution, Timestamp};
use runkey::guards::{GuardConfig, GuardContext};
use runkey::ports::{Reply, Request};
use runkey::{
    CallError, Ctx, Entry, Fut, Guard, Handler, HandlerError, Instance, Key, Layer, Outcome,
    Outside, Permit, Settle, Space, Verdict, Visit, check, check_toml,
};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Remembers in memory which keys are done: forgets them with the process.
#[derive(Default)]
struct Remembers(Mutex<BTreeSet<Key>>);

impl Guard for Remembers {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let done = self.0.lock().unwrap().contains(visit.key);
        let entry = match done {
            true => Entry::Done,
            false => Entry::Run(Permit::first(visit.token)),
        };
        Box::pin(std::future::ready(Ok(entry)))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        self.0.lock().unwrap().insert(visit.key.clone());
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}

/// Makes the effect, as the scenario's protection says.
struct Performs;

impl Handler for Performs {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move { Ok(ctx.perform().await?) })
    }
}

/// Recognises keys, for ever.
#[derive(Default)]
struct Recognises(BTreeSet<Key>);

impl Outside for Recognises {
    fn perform(&mut self, request: &Request, _: Timestamp) -> Reply {
        match request.key.clone().is_none_or(|key| self.0.insert(key)) {
            true => Reply::Performed,
            false => Reply::Repeated,
        }
    }
}

const ONE_EXECUTOR: &str = "
    [topology]
    kind = 'queued'
    schedulers = 1
    executors = 1
";

fn built_in(kind: &str) -> impl Fn(&Instance) -> Box<dyn Guard> + Send + Sync + 'static {
    let config: GuardConfig = toml::from_str(&format!("kind = '{kind}'")).unwrap();
    move |instance| {
        config.build(&GuardContext {
            instance,
            max_attempts: 8,
        })
    }
}

fn message_of(panics: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn without_protection_downstream_no_guard_survives_one_fault() {
    let report = check_toml(ONE_EXECUTOR)
        .guard(|_| Remembers::default())
        .faults(1)
        .assert_verdict(Verdict::Duplicate);
    assert_eq!(report.faults_needed(), Some(1));
    assert_eq!(report.by(), ["duplicate_request@downstream.perform"]);
    assert_eq!(report.effects(), Some(2));
    assert_eq!(report.layer(), Some(&Attribution::Layer(Layer::Effect)));
    assert!(report.to_string().contains("guard of the test"));
}

#[test]
fn the_panic_of_a_broken_promise_is_the_timeline_the_reason_and_the_replay_line() {
    let message = message_of(|| {
        check_toml(ONE_EXECUTOR)
            .guard(|_| Remembers::default())
            .faults(1)
            .named("a_guard_of_mine")
            .assert_exactly_once();
    });
    insta::assert_snapshot!(message);
}

#[test]
fn a_sound_guard_of_the_users_own_is_exactly_once() {
    let report = check("recommended-stack")
        .guard(built_in("state_machine"))
        .handler(|_| Performs)
        .faults(1)
        .seeds(1..=2)
        .assert_exactly_once();
    assert!(report.holds() && report.exhausted());
    assert_eq!(report.verdict(), Some(Verdict::ExactlyOnce));
    assert_eq!(report.faults_needed(), None);
    assert!(report.plans() > 100, "{}", report.plans());
    assert_eq!(report.token(), None);
}

#[test]
fn an_outside_world_that_recognises_keys_makes_a_careless_guard_harmless() {
    let text = "[downstream]\nprotection = { kind = 'idempotency_key' }";
    let careless = || check_toml(text).faults(1).seeds(1..=2);
    careless()
        .downstream(Recognises::default)
        .assert_at_most_once();
    struct Forgets;
    impl Outside for Forgets {
        fn perform(&mut self, _: &Request, _: Timestamp) -> Reply {
            Reply::Performed
        }
    }
    let report = careless()
        .downstream(|| Forgets)
        .assert_verdict(Verdict::Duplicate);
    assert_eq!(report.faults_needed(), Some(1));
}

#[test]
fn each_promise_forgives_what_the_other_does_not() {
    let at_least = "[guard]\nkind = 'none'";
    check_toml(at_least)
        .faults(1)
        .seeds(1..=2)
        .assert_at_least_once();
    let message = message_of(|| {
        check_toml(at_least)
            .faults(1)
            .seeds(1..=2)
            .assert_at_most_once();
    });
    assert!(message.contains("DUPLICATE"), "{message}");

    let at_most =
        "[guard]\nkind = 'insert_first'\n[downstream]\nprotection = { kind = 'idempotency_key' }";
    check_toml(at_most)
        .faults(1)
        .seeds(1..=2)
        .assert_at_most_once();
    let message = message_of(|| {
        check_toml(at_most)
            .faults(1)
            .seeds(1..=2)
            .assert_at_least_once();
    });
    assert!(message.contains("LOST"), "{message}");
}

#[test]
fn a_verdict_that_no_plan_gives_is_told_with_what_was_found_instead() {
    let message = message_of(|| {
        check("crash-before-ack")
            .faults(1)
            .seeds(1..=2)
            .assert_verdict(Verdict::Stuck);
    });
    assert!(
        message.starts_with("runkey: stuck: no plan of 1 fault gives what is expected"),
        "{message}"
    );
    assert!(message.contains("DUPLICATE"), "{message}");
}

#[test]
fn a_bound_of_no_faults_is_allowed_and_says_only_that() {
    let report = check("crash-before-ack")
        .faults(0)
        .seeds(1..=3)
        .assert_exactly_once();
    assert_eq!(report.plans(), 3);
}

#[test]
fn the_space_can_be_chosen() {
    let plans = |space| {
        let check = check("recommended-stack")
            .space(space)
            .faults(1)
            .seeds(1..=1);
        check.assert_exactly_once().plans()
    };
    assert!(plans(Space::Full) > plans(Space::Core));
}

#[test]
fn a_scenario_that_states_its_plan_is_checked_under_that_plan() {
    let text = "
        [topology]
        kind = 'queued'
        executors = 1
        [[fault]]
        at = { instance = 'executor-1', step = 'broker.ack', phase = 'before' }
        do = 'crash'
    ";
    let report = check_toml(text)
        .handler(|_| Performs)
        .assert_verdict(Verdict::Duplicate);
    assert_eq!(report.by(), ["crash@broker.ack"]);
    assert_eq!(
        report.plans(),
        8,
        "the empty plan and the one stated, under four seeds"
    );
}

#[test]
fn what_cannot_be_checked_is_told_in_one_sentence() {
    let told = |message: String| {
        assert_eq!(message.lines().count(), 1, "{message}");
        message
    };
    assert_eq!(
        told(message_of(|| drop(
            check("crash-befor-ack").assert_exactly_once()
        ))),
        "runkey: there is no scenario `crash-befor-ack` in the catalogue, and no such file; did you \
         mean crash-before-ack? (runkey list shows all)"
    );
    assert_eq!(
        told(message_of(|| drop(
            check("./no-such.toml").assert_exactly_once()
        ))),
        "runkey: ./no-such.toml: there is no such file"
    );
    let message = told(message_of(|| {
        check_toml("[work]\ntakse = '1s'").assert_exactly_once();
    }));
    assert!(
        message.starts_with("runkey: inline.toml:2:1: unknown key `takse`"),
        "{message}"
    );
}

#[test]
fn what_the_scenario_says_about_the_guard_holds_for_a_guard_of_ones_own() {
    // A guard that always finds the run busy: with `drop` the run is lost at once.
    struct AlwaysBusy;
    impl Guard for AlwaysBusy {
        fn enter<'a>(&'a self, _: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
            Box::pin(std::future::ready(Ok(Entry::Busy { retry_in: None })))
        }
        fn finish<'a>(
            &'a self,
            _: Visit<'a>,
            _: &'a Permit,
            _: Outcome,
        ) -> Fut<'a, Result<Settle, CallError>> {
            Box::pin(std::future::ready(Ok(Settle::Ack)))
        }
    }
    check_toml("[guard]\nkind = 'process_mutex'\nbusy = 'drop'")
        .guard(|_| AlwaysBusy)
        .faults(0)
        .assert_verdict(Verdict::Lost);
}
