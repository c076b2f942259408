//! What `check` says would have stopped a counterexample.

use crate::runkey::*;
use serde_json::{Value, json};

/// `check` of a scenario of the catalogue under these seeds, with these options.
fn survivors(seeds: &str, more: &[&str]) -> Value {
    let args = [
        "check",
        "lost-publish-confirm",
        "--seeds",
        seeds,
        "--format",
        "json",
    ];
    let document = runkey(&[&args[..], more].concat()).ends(0).json();
    document["results"][0]["counterexample"]["survivors"].clone()
}

fn one<'a>(survivors: &'a Value, name: &str) -> &'a Value {
    let all = survivors.as_array().unwrap().iter();
    let mut named = all.filter(|one| one["name"] == name);
    named
        .next()
        .unwrap_or_else(|| panic!("no {name} in {survivors:#}"))
}

#[test]
fn a_check_says_which_change_survives_everything_and_which_this_plan_only() {
    let survivors = survivors("1", &[]);
    let key = one(&survivors, "idempotency key downstream");
    assert_eq!(key["cost"], "downstream");
    assert_eq!(
        key["change"],
        json!({ "downstream.protection": { "kind": "idempotency_key" } })
    );
    let this_plan = json!({ "verdict": "exactly_once", "survives": true, "left_out": [] });
    assert_eq!(key["this_plan"], this_plan);
    let space = &key["bounded_space"];
    assert_eq!(space["space"], "core/1+full/1");
    assert_eq!(space["seeds"], "1..1");
    assert_eq!(
        (
            &space["survives"],
            &space["max_faults"],
            &space["exhausted"]
        ),
        (&json!(true), &json!(2), &json!(true))
    );
    assert_eq!(
        (&space["verdict"], &space["by"]),
        (&Value::Null, &json!([]))
    );

    let window = one(&survivors, "dedup window of the broker");
    assert_eq!(window["this_plan"], this_plan);
    let space = &window["bounded_space"];
    assert_eq!(
        (&space["survives"], &space["verdict"]),
        (&json!(false), &json!("duplicate"))
    );
    assert_eq!(
        (space["by"].as_array().unwrap().len(), &space["max_faults"]),
        (1, &json!(1))
    );

    let lock = one(&survivors, "guard redis_lock");
    assert_eq!(
        (&lock["this_plan"]["survives"], &lock["bounded_space"]),
        (&json!(false), &Value::Null)
    );
}

#[test]
fn how_far_changes_are_tried_is_asked_for() {
    assert_eq!(survivors("1", &["--survivors", "off"]), Value::Null);
    let plan = survivors("1", &["--survivors", "plan"]);
    let explored = plan.as_array().unwrap().iter();
    assert_eq!(
        explored
            .filter(|one| !one["bounded_space"].is_null())
            .count(),
        0
    );
    assert_eq!(
        one(&plan, "idempotency key downstream")["this_plan"]["survives"],
        true
    );
    let space = survivors("1..2", &["--survivors", "space", "--faults", "1"]);
    let key = &one(&space, "idempotency key downstream")["bounded_space"];
    assert_eq!(
        (&key["seeds"], &key["max_faults"]),
        (&json!("1..2"), &json!(1))
    );
    runkey(&["check", "crash-before-ack", "--survivors", "all"]).ends(2);
}

#[test]
fn what_would_have_stopped_it_stands_below_the_replay_line() {
    let stops = |more: &[&str]| -> Vec<String> {
        let args = ["check", "lost-publish-confirm", "--seeds", "1"];
        let done = runkey(&[&args[..], more].concat()).ends(0);
        let lines = done
            .stdout
            .lines()
            .skip_while(|line| !line.starts_with("  Stops it"));
        lines
            .take_while(|line| !line.starts_with("  Explored"))
            .map(|line| line.trim().to_owned())
            .collect()
    };
    let seed = stops(&[]);
    assert_eq!(
        seed[0],
        "Stops it idempotency key downstream: survives every plan of up to 2 faults (core/1) and 1 \
         fault (full/1), seed 1"
    );
    assert!(
        seed.iter().any(|line| line
            .starts_with("guard state_machine: this plan only, duplicate with 1 fault (")),
        "{seed:#?}"
    );
    let plan = stops(&["--survivors", "plan"]);
    assert_eq!(plan.len(), 1, "{plan:#?}");
    assert!(
        plan[0].starts_with("Stops it under this plan: "),
        "{plan:#?}"
    );
    assert_eq!(stops(&["--survivors", "off"]), [""; 0]);
}

#[test]
fn a_scenario_that_states_its_plan_is_asked_about_that_plan() {
    let folder = folder().with(
        "planned.toml",
        "name = 'planned'\n[[timer]]\nid = 'report'\nslots = 1\n\
         [[fault]]\nat = { step = 'broker.ack', run = 'report#1' }\ndo = 'crash'\n\
         [expect]\nverdict = 'duplicate'\nlayer = 'delivery'\n",
    );
    let done = folder.runkey(&["check", "planned.toml", "--seeds", "1", "--format", "json"]);
    let document = done.ends(0).json();
    let survivors = &document["results"][0]["counterexample"]["survivors"];
    let key = one(survivors, "idempotency key downstream");
    assert_eq!(key["this_plan"]["survives"], true);
    assert_eq!(key["bounded_space"], Value::Null);
}

#[test]
fn where_nothing_of_the_list_helps_that_is_said() {
    let folder = folder().with(
        "fails.toml",
        "name = 'fails'\n[[timer]]\nid = 'report'\nslots = 1\n[work]\nhandler = 'fails'\n\
         [expect]\nverdict = 'stuck'\nfaults_needed = 0\n",
    );
    let done = folder.runkey(&["check", "fails.toml", "--seeds", "1"]);
    assert!(
        done.stdout.contains("  Stops it nothing in the list ("),
        "{}",
        done.stdout
    );
}
