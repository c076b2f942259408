//! Which files mean the same, what a repair changes, and which site a written fault means.
#![allow(clippy::unwrap_used)]

use evidence::{InstanceId, Slot, Verdict};
use proptest::prelude::*;
use runkey_scenarios::file::ExpectedVerdict;
use runkey_scenarios::spec::{FaultKind, Phase, RunRef, Site};
use runkey_scenarios::{Scenario, TEMPLATE, catalogue};
use scheduler::steps;
use scheduler::{Span, Switchable};

fn read(text: &str) -> Scenario {
    Scenario::parse(text, "file.toml").unwrap()
}

fn refused(text: &str) -> String {
    Scenario::parse(text, "file.toml").unwrap_err().to_string()
}

#[test]
fn the_hash_of_the_default_scenario_does_not_change() {
    // Every token of a scenario carries it: a new number here makes them all useless.
    assert_eq!(
        read("").canonical(),
        concat!(
            r#"{"broker":{"ack_deadline":"30s","ack_fencing":false,"dedup_window":"off","#,
            r#""deferral_counts":false,"loses_on_restart":false,"max_deliver":"unlimited","#,
            r#""profile":"at-least-once","redeliver_on_disconnect":false,"renew_every":"off","#,
            r#""then":"dead_letter"},"#,
            r#""database":{"isolation":"read_committed","profile":"generic"},"#,
            r#""dispatch":{"catch_up":"all","claim":{"kind":"unique_run_key"},"order":"outbox","#,
            r#""relay_every":"1s"},"#,
            r#""downstream":{"in_flight":"wait","latency":"200ms","protection":{"kind":"none"}},"#,
            r#""epoch":"2026-01-01T00:00:00.000Z","fault":[],"guard":{"kind":"none"},"#,
            r#""horizon":"auto","identity":{"key":"run_key"},"instance":[],"#,
            r#""judge":{"gave_up":"failure","overlap":false,"promise":"exactly_once","#,
            r#""skipped":"ok","stale":false},"lock":{"persistence":true},"#,
            r#""recovery":{"enabled":true,"every":"10s"},"#,
            r#""timer":[{"id":"report","next":"from_slot","on":[],"registrations":1,"#,
            r#""schedule":{"cron":"0 0 2 * * *","zone":"UTC"},"slots":2}],"#,
            r#""topology":{"concurrency":1,"executors":2,"instances":2,"kind":"queued","#,
            r#""queue":"unlimited","restart_after":"5s","schedulers":2},"#,
            r#""work":{"ack":"after","call_timeout":"3s","handler":"effect","#,
            r#""retry":{"backoff":"1s","max_attempts":8,"max_backoff":"1m","#,
            r#""retryable":["refused","unknown","error"]},"takes":"0s"}}"#,
        )
    );
    assert_eq!(read("").hash(), 11_253_169_763_228_172_601);
}

#[test]
fn what_is_only_said_about_a_scenario_does_not_change_its_hash() {
    let said = "name = 'n'\nabout = 'a'\nsource = 's'\ntags = ['t']\n[explore]\nfaults = 1\n\
                [expect]\nfaults = 1\n[[repair]]\nname = 'r'\nset = { 'work.takes' = '1s' }";
    assert_eq!(read(said).hash(), read("").hash());
    assert_eq!(read(said).hash32(), (read("").hash() >> 32) as u32);
}

#[test]
fn a_default_that_is_written_out_changes_no_hash_and_anything_else_does() {
    let same = [
        "[guard]\nkind = 'none'",
        "[topology]\nschedulers = 2",
        "[[timer]]\nschedule = { cron = '0 0 2 * * *', zone = 'UTC' }",
        "[work]\ncall_timeout = '3000ms'",
        "[dispatch]\nclaim = { kind = 'unique_run_key' }",
    ];
    for text in same {
        assert_eq!(read(text).hash(), read("").hash(), "{text}");
    }
    let lock = "[guard]\nkind = 'redis_lock'\nttl = '30s'";
    assert_eq!(
        read(lock).hash(),
        read(&format!("{lock}\nrenew_every = '10s'\nbusy = 'defer'")).hash()
    );
    let different = [
        "[guard]\nkind = 'insert_first'",
        "[topology]\nschedulers = 3",
        "[[timer]]\nid = 'other'",
        "[judge]\npromise = 'at_most_once'",
        "epoch = '2026-01-02T00:00:00Z'",
        "[[fault]]\nat = { step = 'broker.ack' }\ndo = 'crash'",
    ];
    for text in different {
        assert_ne!(read(text).hash(), read("").hash(), "{text}");
    }
}

const BROKEN: &str = "
name = 'lock'
[[timer]]
id = 'a.b'
[guard]
kind = 'redis_lock'
renew_every = 'off'
[work]
takes = '45s'
[expect]
verdict = 'duplicate'
faults_needed = 0
";

#[test]
fn a_repair_is_the_same_scenario_with_its_changes() {
    let text = format!(
        "{BROKEN}
[[repair]]
name = 'renewed'
set = {{ 'guard.renew_every' = '5s', 'timer.a.b.slots' = 3, 'instance.executor-1.fire_offset' = '-2s' }}
[[repair]]
name = 'state machine'
set = {{ guard = {{ kind = 'state_machine' }}, 'work.takes' = '1s' }}
expect = {{ verdict = 'holds' }}
"
    );
    let scenario = read(&text);
    let renewed = &scenario.repairs[0].scenario;
    assert_eq!(renewed.name, "lock + renewed");
    assert_eq!(renewed.timers[0].slots, 3);
    assert_eq!(renewed.instances[0].fire_offset.ms(), -2000);
    assert_eq!(renewed.expect, None);
    assert_eq!(renewed.work.takes, Span::secs(45));
    let scheduler::guards::GuardConfig::RedisLock(lock) = &renewed.guard else {
        panic!("another guard");
    };
    assert_eq!(lock.renew_every, Some(Switchable(Some(Span::secs(5)))));

    let other = &scenario.repairs[1].scenario;
    assert_eq!(other.guard.name(), "state_machine");
    assert_eq!(other.work.takes, Span::secs(1));
    assert_eq!(
        other.expect.as_ref().unwrap().verdict,
        ExpectedVerdict::Holds
    );
    assert_eq!(
        scenario.expect.unwrap().verdict,
        ExpectedVerdict::Is(Verdict::Duplicate)
    );
}

#[test]
fn a_repair_of_a_default_table_writes_it_first() {
    let scenario = read("[[repair]]\nname = 'more'\nset = { 'timer.report.slots' = 5 }");
    assert_eq!(scenario.repairs[0].scenario.timers[0].slots, 5);
    assert_eq!(scenario.timers[0].slots, 2);
}

#[test]
fn a_repair_that_leads_nowhere_is_refused_at_its_place() {
    for (set, says) in [
        (
            "{ 'guard.tll' = '5s' }",
            "file.toml:3:23: unknown key `tll`; allowed are `acquire`",
        ),
        (
            "{ name = 'x' }",
            "file.toml:3:9: `name` cannot be changed by a repair; allowed are epoch",
        ),
        (
            "{ 'timer.weekly.slots' = 2 }",
            "file.toml:3:9: `timer.weekly.slots` names no timer; allowed are report",
        ),
        ("{ 'timer.report.slots' = 0 }", "file.toml:3:32: slots is 0"),
        (
            "{ 'instance.executor-9.starts_at' = '5s' }",
            "file.toml:3:9: `instance.executor-9.starts_at` names no instance",
        ),
        (
            "{ 'epoch.x' = 1 }",
            "file.toml:3:21: a table does not fit here; allowed is a string",
        ),
    ] {
        let text = format!("[[repair]]\nname = 'r'\nset = {set}\n[guard]\nkind = 'redis_lock'");
        let error = refused(&text);
        assert!(
            error.starts_with(says),
            "{set}\n  says  {error}\n  not   {says}"
        );
    }
}

fn site(instance: u8, ordinal: u32, n: u16, phase: Phase) -> Site {
    Site {
        instance: InstanceId(instance),
        step: steps::BROKER_ACK.number,
        run: RunRef::Slot(Slot { timer: 0, ordinal }),
        n,
        phase,
    }
}

#[test]
fn a_written_fault_means_the_occurrence_that_it_counts() {
    let reached = [
        site(2, 1, 1, Phase::Before),
        site(2, 1, 1, Phase::Done),
        site(3, 2, 1, Phase::Before),
        site(3, 2, 2, Phase::Before),
        site(3, 2, 2, Phase::Done),
    ];
    let find = |at: &str| {
        let text = format!("[[fault]]\nat = {{ step = 'broker.ack', {at} }}\ndo = 'crash'");
        let scenario = read(&text);
        let spec = scenario.faults[0].spec(&scenario).unwrap();
        let fault = spec.find(reached)?;
        assert_eq!(fault.kind, FaultKind::Crash);
        Some(fault.site)
    };
    assert_eq!(find("occurrence = 1"), Some(reached[0]));
    assert_eq!(find("occurrence = 3"), Some(reached[3]));
    assert_eq!(find("occurrence = 4"), None);
    assert_eq!(find("phase = 'done', occurrence = 2"), Some(reached[4]));
    assert_eq!(find("instance = 'executor-2'"), Some(reached[2]));
    assert_eq!(find("run = 'report#2', occurrence = 2"), Some(reached[3]));
    let whole = "instance = 'executor-2', run = 'report#2', phase = 'done', occurrence";
    assert_eq!(find(&format!("{whole} = 2")), Some(reached[4]));
    assert_eq!(find(&format!("{whole} = 1")), None);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Scenario::parse_bytes(&bytes, "file.toml");
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\[\\[?[a-z.]{0,9}\\]\\]?\n|[a-z_.\"'-]{0,9} ?= ?[^\n]{0,20}\n|.{0,20}\n){0,12}") {
        let _ = Scenario::parse(&text, "file.toml");
    }

    #[test]
    fn no_damage_to_a_good_file_makes_the_reader_panic(
        which: prop::sample::Index,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, "[\\[\\]{}=\"'.,#\n0-9a-z-]{0,3}"), 1..6),
    ) {
        let mut files: Vec<String> = catalogue::all().iter().map(|entry| entry.text.to_owned()).collect();
        files.push(TEMPLATE.to_owned());
        files.push(format!("{BROKEN}[[repair]]\nname = 'r'\nset = {{ 'guard.ttl' = '5s' }}\n[[instance]]\nname = 'executor-1'\n"));
        let mut text: Vec<char> = files[which.index(files.len())].chars().collect();
        for (at, drop, with) in damage {
            let at = at.index(text.len() + 1);
            let end = (at + drop).min(text.len());
            text.splice(at..end, with.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = Scenario::parse(&text, "file.toml") {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
}

#[test]
fn a_file_that_is_nested_without_end_is_refused() {
    for text in [
        "a=".to_owned() + &"[".repeat(200_000),
        "a=".to_owned() + &"{a=".repeat(200_000),
        "a.".repeat(200_000) + "a=1",
        format!("[{}a]", "a.".repeat(200_000)),
        "[[timer]]\n".repeat(10_000),
        "[[repair]]\nname = 'r'\n".repeat(10_000),
    ] {
        assert!(Scenario::parse(&text, "file.toml").is_err());
    }
}
