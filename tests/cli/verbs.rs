//! What each verb does.

use crate::runkey::*;
use std::fs;

#[test]
fn a_check_tells_the_smallest_plan_that_breaks_the_promise() {
    let done = runkey(&[
        "check",
        "crash-before-ack",
        "--seeds",
        "1..2",
        "--no-timing",
    ])
    .ends(0);
    insta::assert_snapshot!(done.stdout);
    assert_eq!(done.stderr, "");
}

#[test]
fn a_check_of_a_sound_scenario_tells_what_was_exhausted_and_what_comes_after() {
    let folder = folder().with("claimed.toml", CLAIMED);
    let done = folder
        .runkey(&["check", "claimed.toml", "--seeds", "1..2", "--no-timing"])
        .ends(0);
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn a_check_that_is_not_as_expected_tells_what_was_expected() {
    let folder = folder().with("overstated.toml", OVERSTATED);
    let done = folder.runkey(&["check", "overstated.toml", "--seeds", "1..2", "--no-timing"]);
    insta::assert_snapshot!(done.ends(100).stdout);
}

#[test]
fn a_run_tells_one_execution_on_one_screen() {
    let done = runkey(&["run", "crash-before-ack", "--seed", "3"]).ends(0);
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn a_replay_tells_every_event_of_what_a_check_found() {
    let checked = runkey(&[
        "check",
        "crash-before-ack",
        "--seeds",
        "1",
        "--format",
        "json",
    ]);
    let found = checked.ends(0).json()["results"][0]["counterexample"].clone();
    let token = found["token"].as_str().unwrap();
    let replayed = runkey(&["replay", token, "--format", "json"])
        .ends(0)
        .json();
    let replayed = &replayed["results"][0];
    for field in [
        "trace_hash",
        "verdict",
        "layer",
        "sentence",
        "plan",
        "token",
    ] {
        assert_eq!(replayed[field], found[field], "{field}");
    }
    insta::assert_snapshot!(runkey(&["replay", token]).ends(0).stdout);
}

#[test]
fn a_replay_of_a_scenario_in_a_file_is_told_the_file() {
    let folder = folder().with("replicas.toml", REPLICAS);
    let done = folder
        .runkey(&["check", "replicas.toml", "--seeds", "1"])
        .ends(0);
    let line = done
        .stdout
        .lines()
        .find(|line| line.contains("Replay"))
        .unwrap();
    let command: Vec<&str> = line.split_whitespace().skip(2).collect();
    assert_eq!(command.last(), Some(&"replicas.toml"));
    folder.runkey(&command).ends(0);
}

#[test]
fn a_plan_file_is_replayed_with_the_scenario_beside_it() {
    let folder = folder().with("replicas.toml", REPLICAS).with(
        "plan.toml",
        "scenario = 'replicas.toml'\nseed = 2\n[[fault]]\n\
         at = { instance = 'instance-1', step = 'timer.fire', run = 'report#1', phase = 'before' }\n\
         do = 'crash'\n",
    );
    let done = folder
        .runkey(&["replay", "plan.toml", "--format", "json"])
        .ends(0)
        .json();
    let result = &done["results"][0];
    assert_eq!(result["seed"], 2);
    assert_eq!(result["plan"][0]["kind"], "crash");
    assert_eq!(result["plan"][0]["step"], "timer.fire");
}

#[test]
fn a_list_can_be_narrowed_by_name_layer_topology_and_guard() {
    let names = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["list", "--format", "json"];
        all.extend(args);
        let listed = runkey(&all).ends(0).json();
        let results = listed["results"].as_array().unwrap().iter();
        results
            .map(|result| result["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = names(&[]);
    assert!(all.contains(&"crash-before-ack".to_owned()), "{all:?}");
    assert_eq!(names(&["crash-before-a"]), ["crash-before-ack"]);
    for (narrowed, field, value) in [
        (["--layer", "delivery"], "layer", "delivery"),
        (["--topology", "queued"], "topology", "queued"),
        (["--guard", "none"], "guard", "none"),
    ] {
        let listed = runkey(&["list", "--format", "json", narrowed[0], narrowed[1]])
            .ends(0)
            .json();
        for result in listed["results"].as_array().unwrap() {
            assert_eq!(result[field], value);
        }
    }
    assert!(names(&["--guard", "none"]).len() < all.len());
}

#[test]
fn the_files_that_a_list_names_exist() {
    let listed = runkey(&["list", "--format", "json"]).ends(0).json();
    for result in listed["results"].as_array().unwrap() {
        let path = result["path"].as_str().unwrap();
        assert!(
            fs::exists(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap(),
            "{path}"
        );
    }
}

#[test]
fn init_writes_a_scenario_that_runs_and_leaves_existing_files_alone() {
    let folder = folder();
    let done = folder.runkey(&["init", "job.toml"]).ends(0);
    assert_eq!(done.stdout, "");
    assert_eq!(
        done.stderr,
        "note: wrote job.toml; try: runkey check job.toml\n"
    );
    folder.runkey(&["run", "job.toml"]).ends(0);

    let done = folder.runkey(&["init", "job.toml"]).ends(2);
    assert_eq!(
        done.stderr,
        "error: job.toml exists already; it is left as it is\n"
    );
    folder.runkey(&["init", "no/such/folder/job.toml"]).ends(2);
}

#[test]
fn completions_exist_for_the_common_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = runkey(&["completions", shell]).ends(0);
        assert!(done.stdout.contains("runkey"), "{shell}");
    }
    runkey(&["completions", "dos"]).ends(2);
}

#[test]
fn a_scenario_with_a_plan_of_its_own_runs_that_plan() {
    let folder = folder().with(
        "planned.toml",
        "name = 'planned'\n[[fault]]\nat = { step = 'broker.ack', run = 'report#1' }\ndo = 'crash'\n\
         [expect]\nverdict = 'duplicate'\nlayer = 'delivery'\n",
    );
    let done = folder
        .runkey(&["check", "planned.toml", "--seeds", "1..2", "--faults", "2"])
        .ends(0);
    assert_eq!(
        done.stderr,
        "note: planned states its plan: --faults and --space are for others\n"
    );
    assert!(
        done.stdout
            .contains("Explored the empty plan and the one stated"),
        "{}",
        done.stdout
    );
    let done = folder.runkey(&["run", "planned.toml"]).ends(0);
    assert!(
        done.stdout.contains("DUPLICATE at layer delivery, 1 fault"),
        "{}",
        done.stdout
    );
}

#[test]
fn repairs_of_a_scenario_are_checked_after_it_and_replayed_by_their_token() {
    let folder = folder().with(
        "repaired.toml",
        format!(
            "{REPLICAS}\n[[repair]]\nname = 'a claim'\n\
             set = {{ 'dispatch.claim' = {{ kind = 'unique_run_key' }} }}\n\
             expect = {{ verdict = 'lost', faults_needed = 1, also = ['duplicate', 'unfinished'] }}\n"
        ),
    );
    let done = folder.runkey(&["check", "repaired.toml", "--seeds", "1", "--format", "json"]);
    let document = done.ends(0).json();
    assert_eq!(document["results"][0]["scenario"], "replicas");
    let repair = &document["results"][1];
    assert_eq!(repair["scenario"], "replicas + a claim");
    let token = repair["counterexample"]["token"].as_str().unwrap();
    let replayed = folder.runkey(&["replay", token, "repaired.toml", "--format", "json"]);
    let replayed = replayed.ends(0).json();
    assert_eq!(replayed["results"][0]["scenario"], "replicas + a claim");
    assert_eq!(
        replayed["results"][0]["trace_hash"],
        repair["counterexample"]["trace_hash"]
    );
}

#[test]
fn deadlines_of_a_file_that_end_together_are_noted() {
    let folder = folder().with(
        "tie.toml",
        "name = 'tie'\n[broker]\nack_deadline = '20s'\n[guard]\nkind = 'redis_lock'\nttl = '20s'\n",
    );
    let done = folder.runkey(&["check", "tie.toml", "--seeds", "1", "--faults", "0"]);
    assert_eq!(
        done.stderr,
        "note: tie: broker.ack_deadline and guard.ttl are both 20s: which ends first is left to \
         chance\n"
    );
}
