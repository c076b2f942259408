//! What a scenario file may say, what it means, and how it is refused.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use runkey_scenarios::Scenario;
use runkey_scenarios::file::{ExpectedVerdict, MaxDeliver, Place, TopologyKind};
use scheduler::dispatch::{ClaimConfig, Order};
use scheduler::guards::{BusyPolicy, GuardConfig};
use scheduler::{Span, Switchable};

fn read(text: &str) -> Scenario {
    Scenario::parse(text, "file.toml").unwrap()
}

fn refused(text: &str) -> String {
    Scenario::parse(text, "file.toml").unwrap_err().to_string()
}

const EXAMPLE: &str = r#"
name   = "redis-lock-shorter-than-work"
about  = "The lock's TTL and the broker's deadline end while the holder still works."
source = "S2.5"

[[timer]]
id = "report"
schedule = { cron = "0 0 2 * * *", zone = "Asia/Shanghai" }
slots = 2

[topology]
kind = "queued"
schedulers = 2
executors = 2

[broker]
profile = "at-least-once"
ack_deadline = "30s"

[guard]
kind = "redis_lock"
ttl = "20s"
renew_every = "off"

[work]
takes = "45s"

[expect]
verdict = "duplicate"
layer = "delivery"
faults_needed = 0
"#;

#[test]
fn the_example_of_the_format_is_read() {
    let scenario = read(EXAMPLE);
    assert_eq!(scenario.name, "redis-lock-shorter-than-work");
    assert_eq!(scenario.source.as_deref(), Some("S2.5"));
    assert_eq!(scenario.work.takes, Span::secs(45));
    let GuardConfig::RedisLock(lock) = &scenario.guard else {
        panic!("another guard");
    };
    assert_eq!(lock.renew_every, Some(Switchable(None)));
    assert_eq!(lock.busy, Some(BusyPolicy::Defer));
    let expect = scenario.expect.unwrap();
    assert_eq!(expect.verdict, ExpectedVerdict::Is(Verdict::Duplicate));
    assert_eq!(expect.faults_needed, Some(0));
}

#[test]
fn an_empty_file_is_the_default_scenario_under_its_files_name() {
    let scenario = Scenario::parse("", "dir/nightly.toml").unwrap();
    let expected = Scenario {
        name: "nightly".into(),
        ..Scenario::default()
    };
    assert_eq!(scenario, expected);
    assert_eq!(
        scenario.instance_names(),
        ["scheduler-1", "scheduler-2", "executor-1", "executor-2"]
    );
}

#[test]
fn in_local_nobody_is_asked_and_a_busy_run_is_dropped() {
    let scenario = read("[topology]\nkind = 'local'\n[guard]\nkind = 'lock_row'");
    assert_eq!(scenario.topology.kind, TopologyKind::Local);
    assert_eq!(scenario.dispatch.claim, ClaimConfig::None {});
    assert_eq!(scenario.guard.busy(), Some(BusyPolicy::Drop));
    assert_eq!(scenario.instance_names(), ["instance-1", "instance-2"]);
    let said = read(
        "[topology]\nkind = 'local'\n[guard]\nkind = 'lock_row'\nbusy = 'wait'\n\
         [dispatch]\nclaim = { kind = 'unique_run_key' }",
    );
    assert_eq!(said.dispatch.claim, ClaimConfig::UniqueRunKey {});
    assert_eq!(said.guard.busy(), Some(BusyPolicy::Wait));
    assert_eq!(said.dispatch.order, Order::Outbox);
}

#[test]
fn a_profile_fills_in_its_numbers_and_each_can_be_named() {
    let broker = read("[broker]\nprofile = 'at-most-once'").broker;
    assert_eq!(broker.max_deliver, MaxDeliver::Times(1));
    assert_eq!(broker.ack_deadline, Switchable(None));
    assert!(broker.loses_on_restart);
    let named = read("[broker]\nprofile = 'at-most-once'\nloses_on_restart = false").broker;
    assert!(!named.loses_on_restart);
}

#[test]
fn every_kind_of_mistake_says_where_it_is_and_what_is_allowed() {
    for (text, says) in [
        ("a = ", "file.toml:1:"),
        (
            "nmae = 'x'",
            "file.toml:1:1: unknown key `nmae`; allowed are `name`, `about`",
        ),
        (
            "\n[broker]\nreplicas = 3",
            "file.toml:3:1: unknown key `replicas`; allowed are `profile`",
        ),
        (
            "[guard]\nkind = 'redis_lock'\nlease = '20s'",
            "file.toml:3:1: unknown key `lease`; allowed are `acquire`",
        ),
        (
            "[guard]\nkind = 'redis_lock'\nttl = '-20s'",
            "file.toml:3:7: `-20s` is not a duration",
        ),
        (
            "guard = { kind = 'redis_lock', ttl = '-20s' }",
            "file.toml:1:38: `-20s` is not a duration",
        ),
        (
            "[guard]\nkind = 'hope'",
            "file.toml:2:8: unknown value `hope`; allowed are `none`",
        ),
        (
            "[guard]\nttl = '20s'",
            "file.toml:1:1: the key `kind` is missing",
        ),
        (
            "[work]\ntakes = '5 parsecs'",
            "file.toml:2:9: `5 parsecs` is not a duration such as",
        ),
        (
            "[work]\ntakes = 5",
            "file.toml:2:9: integer `5` does not fit here; allowed is a duration",
        ),
        (
            "[work]\ncall_timeout = '0s'",
            "file.toml:2:16: call_timeout is `0s`",
        ),
        (
            "[[timer]]\nschedule = { cron = '0 0 2 30 2 *' }",
            "file.toml:2:21: cron `0 0 2 30 2 *` never fires",
        ),
        (
            "[[timer]]\nslots = 0",
            "file.toml:2:9: slots is 0; allowed are 1 to 1000",
        ),
        (
            "[[timer]]\nslots = 1001",
            "file.toml:2:9: slots is 1001; allowed are 1 to 1000",
        ),
        (
            "[[timer]]\nid = ''",
            "file.toml:2:6: a run key needs a timer with a name",
        ),
        (
            "[[timer]]\nid = 'a'\n[[timer]]\nid = 'a'",
            "file.toml:4:6: two timers have the id `a`",
        ),
        (
            "[[timer]]\n[[timer]]",
            "file.toml:2:1: two timers have the id `report`",
        ),
        (
            "timer = []",
            "file.toml:1:9: timer is 0; allowed are 1 to 64",
        ),
        (
            "[[timer]]\non = ['executor-1']",
            "file.toml:2:7: there is no instance `executor-1` here; allowed are scheduler-1, scheduler-2",
        ),
        (
            "[topology]\nexecutors = 0",
            "file.toml:2:13: executors is 0; allowed are 1 to 16",
        ),
        (
            "[topology]\nexecutors = 300",
            "file.toml:2:13: integer `300` does not fit here; allowed is a whole number from 0 to 255",
        ),
        (
            "[topology]\nexecutors = -1",
            "file.toml:2:13: integer `-1` does not fit here",
        ),
        (
            "[topology]\nkind = 'local'\nexecutors = 1",
            "file.toml:3:1: `executors` does not belong to topology local; allowed is `instances`",
        ),
        (
            "topology = ['queued']",
            "file.toml:1:12: `topology` is a list; allowed is a table `[topology]`",
        ),
        (
            "[broker]\nmax_deliver = 0",
            "file.toml:2:15: integer `0` does not fit here; allowed is \"unlimited\" or a number",
        ),
        (
            "[broker]\nack_deadline = '0s'",
            "file.toml:2:16: `0s` is not allowed here",
        ),
        (
            "epoch = 'tomorrow'",
            "file.toml:1:9: `tomorrow` is not a time; allowed is UTC such as",
        ),
        (
            "epoch = '1969-01-01T00:00:00Z'",
            "file.toml:1:9: epoch is 1969",
        ),
        (
            "[[instance]]\nname = 'executor-3'",
            "file.toml:2:8: there is no instance `executor-3`",
        ),
        (
            "[[instance]]\nname = 'executor-1'\nclock = { skew = '2' }",
            "file.toml:3:18: `2` is not a duration with or without a sign",
        ),
        (
            "[explore]\nseeds = '5..1'",
            "file.toml:2:9: `5..1` is not a range of seeds",
        ),
        (
            "[explore]\nfaults = 2\n[[fault]]\nat = { step = 'broker.ack' }\ndo = 'crash'",
            "file.toml:2:1: a scenario with [[fault]] runs exactly that plan",
        ),
        (
            "[[fault]]\nat = { step = 'broker.akc' }\ndo = 'crash'",
            "file.toml:2:15: unknown step `broker.akc`; allowed are timer.wait",
        ),
        (
            "[[fault]]\nat = { step = 'broker.ack', run = 'report#3' }\ndo = 'crash'",
            "file.toml:2:35: `report#3` is no run of this scenario",
        ),
        (
            "[[fault]]\nat = { step = 'broker.ack' }\ndo = 'pause'",
            "file.toml:3:6: this kind needs `for`",
        ),
        (
            "[[fault]]\nat = { step = 'broker.ack' }\ndo = 'crash'\nfor = '3s'",
            "file.toml:4:7: `for` belongs to pause",
        ),
        (
            "[[fault]]\nat = { step = 'instance' }\ndo = 'crash'",
            "file.toml:3:6: `crash` does not apply at `instance`",
        ),
        (
            "[[fault]]\nat = { step = 'broker.ack', phase = 'request' }\ndo = 'crash'",
            "file.toml:2:37: `crash` does not apply at phase `request` of `broker.ack`; allowed is before, done, reply",
        ),
        (
            "[expect]\nverdict = 'duplicate'",
            "file.toml:2:11: a failing verdict needs `faults_needed`",
        ),
        (
            "[expect]\nverdict = 'exactly_once'\nlayer = 'delivery'",
            "file.toml:3:1: `layer` belongs to a failing verdict",
        ),
        (
            "[expect]\nverdict = 'duplicate'\nfaults_needed = 1\nby = ['crash']",
            "file.toml:4:7: `crash` is no kind@step",
        ),
        (
            "[dispatch]\nclaim = { kind = 'none', ttl = '3s' }",
            "file.toml:2:26: unknown key `ttl`",
        ),
    ] {
        let error = refused(text);
        assert!(
            error.starts_with(says),
            "{text}\n  says  {error}\n  not   {says}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_file_that_is_no_file_is_refused() {
    let directory = Scenario::load(env!("CARGO_MANIFEST_DIR")).unwrap_err();
    assert!(
        directory.message().contains("is a directory"),
        "{directory}"
    );
    assert_eq!(directory.place(), None);
    let missing = Scenario::load("no/such/file.toml").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "no/such/file.toml: there is no such file"
    );
    let long = Scenario::parse(&"#".repeat(10 << 20), "long.toml").unwrap_err();
    assert_eq!(
        long.to_string(),
        "long.toml: the file has 10485760 bytes; allowed are at most 1048576 (1 MiB)"
    );
    let binary = Scenario::parse_bytes(b"name = 'x'\n# \xff", "b.toml").unwrap_err();
    assert_eq!(binary.place(), Some(Place { line: 2, column: 3 }));
}

#[test]
fn text_that_would_steer_a_terminal_is_refused() {
    for (text, says) in [
        ("name = \"a\\u001b[31mb\"", "file.toml:1:8: `name` holds a"),
        ("name = \"a\\nb\"", "file.toml:1:8: `name` holds a"),
        ("name = \"a\\rb\"", "file.toml:1:8: `name` holds a"),
        ("about = \"a\\u0007b\"", "file.toml:1:9: `about` holds a"),
        ("about = \"a\\rb\"", "file.toml:1:9: `about` holds a"),
        (
            "name = 'x'\nsource = \"a\\nb\"",
            "file.toml:2:10: `source` holds a",
        ),
        (
            "[[repair]]\nname = \"a\\u009bb\"",
            "file.toml:2:8: `name` holds a",
        ),
    ] {
        let error = refused(text);
        let says = format!("{says} control character; allowed are printable characters");
        assert!(
            error.starts_with(&says),
            "{text}\n  says  {error}\n  not   {says}"
        );
    }
    for text in ["about = \"one\\ntwo\\r\\nthree\"", "name = 'größer 🦀'"] {
        assert!(Scenario::parse(text, "file.toml").is_ok(), "{text}");
    }
}
