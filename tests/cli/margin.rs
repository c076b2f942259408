//! Margins: exact to the millisecond, on both sides.

use crate::runkey::*;
use serde_json::Value;
use std::fmt::Write;

/// Broken by a plan that the file states: the consumer stands still before its ack.
const PLANNED: &str = "
name = 'planned'
[[fault]]
at = { step = 'broker.ack', run = 'report#1' }
do = 'pause'
for = '40s'
[expect]
verdict = 'duplicate'
";

fn margins(folder: &Folder, scenario: &str, more: &[&str]) -> Vec<Value> {
    let args = ["margin", scenario, "--seeds", "1..4", "--no-timing"];
    let json = ["--format", "json"];
    let done = folder.runkey(&[&args[..], more, &json[..]].concat());
    let results = done.ends(0).json()["results"].clone();
    results.as_array().unwrap().clone()
}

fn sentence(scenario: &str, of: &str) -> String {
    let margins = margins(&folder(), scenario, &["--of", of]);
    let sentences: Vec<&str> = margins
        .iter()
        .map(|margin| margin["sentence"].as_str().unwrap())
        .collect();
    sentences.join("; ")
}

#[test]
fn the_settings_of_the_catalogue_change_the_verdict_exactly_here() {
    for (scenario, of, says) in [
        (
            "lock-ttl-shorter-than-work",
            "guard.ttl",
            "duplicate to 45.193 s, safe from 45.194 s",
        ),
        (
            "lock-ttl-shorter-than-work",
            "work.takes",
            "safe to 29.768 s, duplicate from 29.769 s",
        ),
        (
            "lease-shorter-than-work",
            "lease",
            "duplicate to 59.719 s, safe from 59.720 s",
        ),
        (
            "work-longer-than-visibility",
            "ack_deadline",
            "duplicate to 45.218 s, safe from 45.219 s",
        ),
        (
            "work-longer-than-visibility",
            "work.takes",
            "safe to 29.781 s, duplicate from 29.782 s",
        ),
        (
            "short-key-retention",
            "retention",
            "duplicate to 53.667 s, safe from 53.668 s",
        ),
        (
            "lock-row-released-too-soon",
            "min_hold",
            "duplicate to 2.000 s, safe from 2.001 s",
        ),
        (
            "lock-row-released-too-soon",
            "fire_offset@instance-2",
            "safe to 211 ms, duplicate from 212 ms; safe to -212 ms, duplicate from -213 ms",
        ),
        (
            "lock-row-released-too-soon",
            "skew@instance-2",
            "duplicate to 1.790 s, safe from 1.791 s; no margin: duplicate from 0 ms to -1 h",
        ),
        (
            "recommended-stack",
            "retention",
            "duplicate to 53.673 s, safe from 53.674 s",
        ),
    ] {
        assert_eq!(sentence(scenario, of), says, "{scenario} {of}");
    }
}

#[test]
fn faults_of_the_catalogue_change_the_verdict_from_exactly_this_long() {
    for (scenario, of, says) in [
        (
            "finalise-check-off",
            "pause",
            "safe to 47.448 s, duplicate from 47.449 s",
        ),
        (
            "finalise-check-off",
            "pause@guard.enter",
            "no margin: exactly once from 0 ms to 6 min",
        ),
        (
            "finalise-check-off",
            "partition",
            "safe to 1 ms, duplicate from 2 ms",
        ),
        (
            "finalise-check-off",
            "delay",
            "safe to 4.009 s, duplicate from 4.010 s",
        ),
        (
            "too-few-attempts",
            "partition",
            "safe to 51.450 s, gave up from 51.451 s",
        ),
        (
            "recommended-stack",
            "pause",
            "no margin: exactly once from 0 ms to 6 min",
        ),
        (
            "crash-before-ack",
            "pause",
            "safe to 4.995 s, duplicate from 4.996 s",
        ),
        (
            "work-longer-than-visibility",
            "pause",
            "no margin: duplicate without any fault",
        ),
        (
            "at-least-once-queue",
            "pause",
            "no margin: safe from 0 ms to 4 min (at worst duplicate, which is no failure here)",
        ),
        (
            "crash-before-ack",
            "delay@lock.acquire",
            "no margin: no execution without faults comes to a site of delay@lock.acquire",
        ),
    ] {
        assert_eq!(sentence(scenario, of), says, "{scenario} {of}");
    }
}

#[test]
fn what_is_not_monotone_is_told_with_every_change() {
    let margins = margins(
        &folder(),
        "lock-row-released-too-soon",
        &["--of", "latency"],
    );
    assert_eq!(
        margins[0]["sentence"],
        "not monotone: duplicate to 1.988 s, safe from 1.989 s to 2.993 s, duplicate from 2.994 s"
    );
    assert_eq!(margins[0]["monotone"], false);
    let changes = margins[0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    for change in changes {
        let [last, first] = ["last_ms", "first_ms"].map(|key| change[key].as_i64().unwrap());
        assert_eq!(last + 1, first);
    }
}

#[test]
fn a_plan_that_the_file_states_is_what_its_settings_are_judged_by() {
    let folder = folder().with("planned.toml", PLANNED);
    let margins = margins(&folder, "planned.toml", &["--of", "ack_deadline"]);
    assert_eq!(margins[0]["under"], "the plan stated");
    assert_eq!(margins[0]["own_ms"], 30_000);
    assert_eq!(
        margins[0]["sentence"],
        "duplicate to 40.218 s, safe from 40.219 s"
    );
}

#[test]
fn what_a_setting_is_judged_under_is_what_the_scenario_says_goes_wrong() {
    for (scenario, under) in [
        ("lock-ttl-shorter-than-work", "no fault"),
        ("insert-first-stops-the-second", "no fault"),
        ("short-key-retention", "crash@guard.finish"),
        (
            "too-few-attempts",
            "crash@downstream.perform, crash@downstream.perform",
        ),
        (
            "recommended-stack-transactional",
            "every single fault of core/1",
        ),
    ] {
        let args = ["--of", "max_backoff", "--seeds", "1"];
        let done = runkey(&[&["margin", scenario, "--format", "json"], &args[..]].concat());
        let under_here = done.ends(0).json()["results"][0]["under"].clone();
        assert_eq!(under_here, under, "{scenario}");
    }
}

#[test]
fn the_points_are_every_value_asked_by_size_and_agree_with_the_changes() {
    let margins = margins(&folder(), "finalise-check-off", &["--of", "pause"]);
    let margin = &margins[0];
    let change = &margin["changes"][0];
    let points = margin["points"].as_array().unwrap();
    let values: Vec<i64> = points
        .iter()
        .map(|point| point["value_ms"].as_i64().unwrap())
        .collect();
    assert!(values.is_sorted_by(|one, next| one < next));
    assert!(values.len() >= 32, "{}", values.len());
    for point in points {
        let fails = point["value_ms"].as_i64() >= change["first_ms"].as_i64();
        assert_eq!(point["failure"], fails, "{point}");
    }
    assert_eq!(margin["asked"]["from_ms"], values[0]);
    assert_eq!(margin["asked"]["to_ms"], values[values.len() - 1]);
}

#[test]
fn the_example_of_a_fault_stands_at_the_first_value_that_fails_and_is_replayed_by_its_token() {
    let margins = margins(&folder(), "finalise-check-off", &["--of", "pause"]);
    let (example, change) = (&margins[0]["example"], &margins[0]["changes"][0]);
    assert_eq!(example["value_ms"], change["first_ms"]);
    assert_eq!(example["plan"][0]["magnitude_ms"], change["first_ms"]);
    let token = example["token"].as_str().unwrap();
    let replayed = runkey(&["replay", token, "--format", "json"])
        .ends(0)
        .json();
    for field in ["verdict", "trace_hash", "sentence"] {
        assert_eq!(replayed["results"][0][field], example[field], "{field}");
    }
}

#[test]
fn the_example_of_a_setting_has_no_token_since_its_scenario_is_in_no_file() {
    let margins = margins(&folder(), "short-key-retention", &["--of", "retention"]);
    let (example, change) = (&margins[0]["example"], &margins[0]["changes"][0]);
    assert_eq!(example["value_ms"], change["last_ms"]);
    assert_eq!(example["token"], Value::Null);
    assert_eq!(example["verdict"], "duplicate");
}

#[test]
fn one_margin_is_told_with_the_execution_that_shows_it() {
    let args = ["margin", "finalise-check-off", "--of", "pause"];
    let more = ["--seeds", "1..2", "--no-timing"];
    insta::assert_snapshot!(runkey(&[args.as_slice(), &more].concat()).ends(0).stdout);
}

#[test]
fn both_directions_of_a_clock_are_told() {
    let args = [
        "margin",
        "lock-row-released-too-soon",
        "--of",
        "skew@instance-2",
    ];
    let more = ["--seeds", "1..2", "--no-timing"];
    insta::assert_snapshot!(runkey(&[args.as_slice(), &more].concat()).ends(0).stdout);
}

#[test]
fn all_margins_of_a_scenario_are_a_table() {
    let args = ["margin", "lock-row-released-too-soon", "--all"];
    let more = ["--seeds", "1..2", "--no-timing"];
    insta::assert_snapshot!(runkey(&[args.as_slice(), &more].concat()).ends(0).stdout);
}

#[test]
fn margins_do_not_depend_on_the_number_of_threads() {
    let with = |jobs: &str| {
        let args = [
            "margin",
            "finalise-check-off",
            "--of",
            "pause",
            "--no-timing",
        ];
        let more = ["--seeds", "1..3", "--format", "jsonl", "--jobs", jobs];
        runkey(&[&args[..], &more[..]].concat()).ends(0).stdout
    };
    assert_eq!(with("1"), with("4"));
}

#[test]
fn what_has_no_margin_is_refused_with_what_is_allowed() {
    let mut text = String::new();
    for args in [
        &["crash-before-ack"][..],
        &["crash-before-ack", "--of", "pause", "--all"],
        &["crash-before-ack", "--of", "crash"],
        &["crash-before-ack", "--of", "pase"],
        &["crash-before-ack", "--of", "pause@broker.akc"],
        &["crash-before-ack", "--of", "delay@work"],
        &["crash-before-ack", "--of", "skew@executor-7"],
        &["crash-before-ack", "--of", "guard.lease"],
        &["lock-row-released-too-soon", "--of", "hold"],
        &["no-such-scenario", "--all"],
    ] {
        let done = runkey(&[&["margin"], args].concat()).ends(2);
        assert_eq!(done.stdout, "", "{args:?}");
        writeln!(text, "$ runkey margin {}\n{}", args.join(" "), done.stderr).unwrap();
    }
    insta::assert_snapshot!(text);
}
