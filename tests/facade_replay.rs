//! `RUNKEY_REPLAY=token cargo test name`, as a person types it: the tests below run tests of this
//! file that break on purpose, each in a process of its own.
#![allow(clippy::unwrap_used)]

use runkey::guards::{GuardConfig, GuardContext};
use runkey::{
    CallError, Ctx, Entry, Fut, Guard, Handler, HandlerError, Outcome, Permit, Settle, Verdict,
    Visit, check_toml,
};
use std::process::Command;

const PROTECTED: &str = "
    [topology]
    kind = 'queued'
    schedulers = 1
    executors = 1
    [downstream]
    protection = { kind = 'idempotency_key' }
";

/// Lets everybody in; says of a run that has been seen before that it is taken.
struct Careless;

impl Guard for Careless {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let entry = match visit.ids.delivery {
            1 => Entry::Run(Permit::first(visit.token)),
            _ if fixed("guard") => Entry::Run(Permit::first(visit.token)),
            _ => Entry::Taken,
        };
        Box::pin(std::future::ready(Ok(entry)))
    }

    fn finish<'a>(
        &'a self,
        _: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}

struct Performs;

impl Handler for Performs {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move { Ok(ctx.perform().await?) })
    }
}

/// Whether the person has changed this since the token was printed.
fn fixed(what: &str) -> bool {
    std::env::var("RUNKEY_TEST_FIXED").is_ok_and(|fixed| fixed == what)
}

#[test]
#[ignore = "breaks on purpose"]
fn breaks() {
    check_toml(PROTECTED)
        .guard(|_| Careless)
        .handler(|_| Performs)
        .faults(1)
        .assert_at_least_once();
}

#[test]
#[ignore = "breaks on purpose"]
fn breaks_where_it_enters() {
    check_toml(PROTECTED)
        .guard(|instance| {
            let guard = match fixed("guard") {
                true => GuardConfig::default(),
                false => GuardConfig::InsertFirst(Default::default()),
            };
            guard.build(&GuardContext {
                instance,
                max_attempts: 8,
            })
        })
        .faults(1)
        .assert_at_least_once();
}

#[test]
#[ignore = "breaks on purpose"]
fn breaks_in_its_second_check() {
    check_toml(PROTECTED).faults(1).assert_at_least_once();
    check_toml(PROTECTED)
        .guard(|_| Careless)
        .faults(1)
        .assert_at_least_once();
}

#[test]
#[ignore = "run by others"]
fn is_lost_as_asserted() {
    check_toml(PROTECTED)
        .guard(|_| Careless)
        .handler(|_| Performs)
        .faults(1)
        .assert_verdict(Verdict::Lost);
}

#[test]
#[ignore = "run by others"]
fn panics_in_its_handler() {
    struct Panics;
    impl Handler for Panics {
        fn handle<'a>(&'a self, _: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
            panic!("boom in handler")
        }
    }
    check_toml(PROTECTED)
        .handler(|_| Panics)
        .faults(1)
        .assert_verdict(Verdict::Stuck);
}

/// What a test of this file said in a process of its own.
struct Said {
    passed: bool,
    stdout: String,
    stderr: String,
}

fn run(test: &str, environment: &[(&str, &str)]) -> Said {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--ignored"])
        .env("RUST_BACKTRACE", "0")
        .env_remove("RUNKEY_REPLAY");
    for (key, value) in environment {
        command.env(key, value);
    }
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("running 1 test"), "{stdout}");
    Said {
        passed: output.status.success(),
        stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The token of the replay line, and the test that it names.
fn replay_line(said: &Said) -> (String, String) {
    let line = said
        .stdout
        .lines()
        .find(|line| line.contains("RUNKEY_REPLAY="))
        .unwrap();
    let (_, after) = line.split_once("RUNKEY_REPLAY=").unwrap();
    let (token, test) = after.split_once(" cargo test ").unwrap();
    (token.to_owned(), test.to_owned())
}

#[test]
fn the_replay_line_replays_exactly_the_plan_that_broke() {
    let broken = run("breaks", &[]);
    assert!(!broken.passed);
    let place = concat!("panicked at ", file!());
    assert!(broken.stdout.contains(place), "{}", broken.stdout);
    assert!(
        broken.stdout.contains("LOST at layer delivery, 1 fault"),
        "{}",
        broken.stdout
    );
    let (token, test) = replay_line(&broken);
    assert_eq!(test, "breaks");

    let replayed = run(&test, &[("RUNKEY_REPLAY", &token)]);
    assert!(!replayed.passed);
    assert!(
        replayed.stdout.contains("runkey: replayed"),
        "{}",
        replayed.stdout
    );
    assert!(replayed.stdout.contains("LOST at layer delivery, 1 fault"));
    assert!(
        !replayed.stdout.contains("Explored"),
        "nothing else was run"
    );
    assert_eq!(replay_line(&replayed), (token, test));
}

#[test]
fn a_plan_that_no_longer_breaks_passes_and_says_that_the_code_has_changed() {
    let (token, test) = replay_line(&run("breaks", &[]));
    let fixed = [("RUNKEY_REPLAY", &*token), ("RUNKEY_TEST_FIXED", "guard")];
    let replayed = run(&test, &fixed);
    assert!(replayed.passed, "{}", replayed.stdout);
    assert!(
        replayed.stderr.contains("EXACTLY ONCE, 1 fault"),
        "{}",
        replayed.stderr
    );
    assert!(
        replayed
            .stderr
            .contains("the code has changed since the token was printed"),
        "{}",
        replayed.stderr
    );
}

#[test]
fn a_plan_that_no_longer_fits_fails_and_names_the_site() {
    let (token, test) = replay_line(&run("breaks_where_it_enters", &[]));
    let fixed = [("RUNKEY_REPLAY", &*token), ("RUNKEY_TEST_FIXED", "guard")];
    let replayed = run(&test, &fixed);
    assert!(!replayed.passed);
    insta::assert_snapshot!(
        replayed.stdout.lines().find(|line| line.starts_with("runkey: ")).unwrap(),
        @"runkey: the code has changed since the token was printed: fault 1 of the plan (lose_reply@guard.enter) waits at a site that the execution does not reach"
    );
}

#[test]
fn a_token_of_another_test_is_refused() {
    let (token, _) = replay_line(&run("breaks", &[]));
    let replayed = run("is_lost_as_asserted", &[("RUNKEY_REPLAY", &token)]);
    assert!(!replayed.passed);
    assert!(
        replayed.stdout.contains(
            "runkey: RUNKEY_REPLAY is a token of the test `breaks`, and this is \
             `is_lost_as_asserted`; if the test was renamed, the code has changed since"
        ),
        "{}",
        replayed.stdout
    );
    let replayed = run("breaks", &[("RUNKEY_REPLAY", &token[..token.len() - 3])]);
    assert!(!replayed.passed);
    assert!(
        replayed.stdout.contains("runkey: RUNKEY_REPLAY: "),
        "{}",
        replayed.stdout
    );
}

#[test]
fn the_second_check_of_a_test_is_replayed_without_the_first() {
    let (token, test) = replay_line(&run("breaks_in_its_second_check", &[]));
    assert_eq!(test, "breaks_in_its_second_check");
    let replayed = run(&test, &[("RUNKEY_REPLAY", &token)]);
    assert!(!replayed.passed);
    assert!(
        replayed.stderr.contains(
            "note: RUNKEY_REPLAY is a token of `breaks_in_its_second_check#2`; \
             `breaks_in_its_second_check` is passed over"
        ),
        "{}",
        replayed.stderr
    );
    assert_eq!(replay_line(&replayed).0, token);
}

#[test]
fn panics_of_handlers_inside_executions_print_nothing() {
    let said = run("panics_in_its_handler", &[]);
    assert!(said.passed, "{}", said.stdout);
    assert!(!said.stdout.contains("boom"), "{}", said.stdout);
    assert_eq!(said.stderr, "");
}
