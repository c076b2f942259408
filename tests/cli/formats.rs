//! JSON as its schemas say, and output that depends on nothing but what was asked.

use crate::runkey::*;
use serde_json::{Value, json};
use std::fs;

fn schema(name: &str) -> Value {
    let path = format!("{}/docs/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn insist(schema: &Value, on: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(on)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{on:#}");
}

/// One of the definitions of a schema.
fn part(schema: &Value, name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"] })
}

fn lines(done: &Done) -> Vec<Value> {
    let lines = done.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_list_is_as_its_schema_says() {
    let schema = schema("list");
    insist(
        &schema,
        &runkey(&["list", "--format", "json"]).ends(0).json(),
    );
    let done = runkey(&["list", "--format", "jsonl"]).ends(0);
    assert!(!lines(&done).is_empty());
    lines(&done)
        .iter()
        .for_each(|line| insist(&part(&schema, "result"), line));
}

#[test]
fn executions_are_as_their_schema_says() {
    let schema = schema("execution");
    let run = runkey(&["run", "crash-before-ack", "--format", "json"])
        .ends(0)
        .json();
    insist(&schema, &run);
    assert_eq!(run["schema"], "runkey.run/1");
    let token = run["results"][0]["token"].as_str().unwrap();
    let replay = runkey(&["replay", token, "--format", "json"])
        .ends(0)
        .json();
    insist(&schema, &replay);
    assert_eq!(replay["schema"], "runkey.replay/1");
    let events = runkey(&["replay", token, "--format", "jsonl"]).ends(0);
    assert_eq!(Value::Array(lines(&events)), replay["results"][0]["events"]);
}

#[test]
fn checks_are_as_their_schema_says() {
    let schema = schema("check");
    let folder = folder()
        .with("replicas.toml", REPLICAS)
        .with("claimed.toml", CLAIMED)
        .with("overstated.toml", OVERSTATED);
    let args = [
        "check",
        "replicas.toml",
        "claimed.toml",
        "overstated.toml",
        "--seeds",
        "1",
    ];
    let of_format = |format: &str| folder.runkey(&[&args[..], &["--format", format]].concat());
    let document = of_format("json").ends(100).json();
    insist(&schema, &document);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let met: Vec<&Value> = results.iter().map(|result| &result["met"]).collect();
    assert_eq!(met, [true, true, false]);
    let claim = part(&self::schema("certificate"), "claim");
    insist(&claim, &results[1]["certificate"]);
    assert_eq!(results[0]["certificate"], Value::Null);
    assert_eq!(results[2]["certificate"], Value::Null);
    assert!(results[0]["timing"]["elapsed_s"].is_number());
    let jsonl = of_format("jsonl").ends(100);
    assert_eq!(lines(&jsonl).len(), 3);
    lines(&jsonl)
        .iter()
        .for_each(|line| insist(&part(&schema, "result"), line));

    let inconclusive = runkey(&[
        "check",
        "crash-before-ack",
        "--faults",
        "0",
        "--format",
        "json",
    ]);
    let inconclusive = inconclusive.ends(103).json();
    insist(&schema, &inconclusive);
    assert_eq!(inconclusive["results"][0]["met"], Value::Null);
}

#[test]
fn certificates_and_verifications_are_as_their_schemas_say() {
    let folder = folder().with("claimed.toml", CLAIMED);
    folder
        .runkey(&["check", "claimed.toml", "--certificate", "c.json"])
        .ends(0);
    let text = fs::read_to_string(folder.path().join("c.json")).unwrap();
    insist(
        &schema("certificate"),
        &serde_json::from_str(&text).unwrap(),
    );
    let schema = schema("verify");
    let verified = folder
        .runkey(&["verify", "c.json", "--format", "json"])
        .ends(0)
        .json();
    insist(&schema, &verified);
    assert_eq!(verified["results"][0]["verified"], true);
    let jsonl = folder
        .runkey(&["verify", "c.json", "--format", "jsonl"])
        .ends(0);
    insist(&part(&schema, "result"), &lines(&jsonl)[0]);
}

#[test]
fn margins_are_as_their_schema_says() {
    let schema = schema("margin");
    let folder = folder().with("replicas.toml", REPLICAS);
    for args in [
        ["lock-row-released-too-soon", "--all"],
        ["finalise-check-off", "--of=pause"],
        ["crash-before-ack", "--of=delay@lock.acquire"],
        ["replicas.toml", "--of=clock_step"],
    ] {
        let of_format = |format: &str| {
            let more = ["--seeds", "1..1", "--format", format];
            folder.runkey(&[&["margin"], &args[..], &more].concat())
        };
        let document = of_format("json").ends(0).json();
        insist(&schema, &document);
        assert_eq!(document["schema"], "runkey.margin/1");
        assert!(document["results"][0]["timing"]["elapsed_s"].is_number());
        let jsonl = lines(&of_format("jsonl").ends(0));
        assert_eq!(jsonl.len(), document["results"].as_array().unwrap().len());
        let result = part(&schema, "result");
        jsonl.iter().for_each(|line| insist(&result, line));
    }
}

#[test]
fn the_league_table_is_as_its_schema_says() {
    let schema = schema("matrix");
    let of_format = |format: &str| {
        let args = ["matrix", "--guards=insert_first", "--downstream"];
        runkey(&[&args[..], &["--seeds=1..2", "--format", format]].concat()).ends(0)
    };
    let document = of_format("json").json();
    insist(&schema, &document);
    assert_eq!(document["schema"], "runkey.matrix/1");
    let jsonl = lines(&of_format("jsonl"));
    assert_eq!(jsonl.len(), document["results"].as_array().unwrap().len());
    let result = part(&schema, "result");
    jsonl.iter().for_each(|line| insist(&result, line));
}

#[test]
fn shards_are_as_their_schema_says() {
    let schema = schema("shard");
    let folder = folder().with("claimed.toml", CLAIMED);
    let args = [
        "check",
        "claimed.toml",
        "--shard",
        "1/2",
        "--resume",
        "one.journal",
    ];
    let of_format = |format: &str| {
        let args = [&args[..], &["--format", format]].concat();
        folder.runkey(&args).ends(0)
    };
    let document = of_format("json").json();
    insist(&schema, &document);
    assert_eq!(document["results"][0]["complete"], true);
    insist(&part(&schema, "result"), &lines(&of_format("jsonl"))[0]);
}

#[test]
fn a_schema_refuses_what_is_not_in_it() {
    let schema = schema("check");
    let document = runkey(&[
        "check",
        "crash-before-ack",
        "--seeds",
        "1",
        "--format",
        "json",
    ]);
    let mut document = document.ends(0).json();
    document["results"][0]["verdict"] = json!("twice");
    assert!(!jsonschema::is_valid(&schema, &document));
    document["results"][0]["verdict"] = json!("duplicate");
    assert!(jsonschema::is_valid(&schema, &document));
    document["results"][0]["more"] = json!(1);
    assert!(!jsonschema::is_valid(&schema, &document));
}

#[test]
fn without_timing_the_output_does_not_depend_on_the_number_of_threads() {
    let folder = folder()
        .with("replicas.toml", REPLICAS)
        .with("overstated.toml", OVERSTATED);
    for format in ["human", "json", "jsonl"] {
        let with = |jobs: &str| {
            let args = [
                "check",
                "replicas.toml",
                "overstated.toml",
                "crash-before-ack",
            ];
            let more = [
                "--seeds",
                "1..3",
                "--no-timing",
                "--format",
                format,
                "--jobs",
                jobs,
            ];
            folder
                .runkey(&[&args[..], &more[..]].concat())
                .ends(100)
                .stdout
        };
        assert_eq!(with("1"), with("4"), "{format}");
    }
}

#[test]
fn times_stand_only_under_timing() {
    let check = |more: &[&str]| {
        let args = [
            "check",
            "crash-before-ack",
            "--seeds",
            "1",
            "--format",
            "json",
        ];
        runkey(&[&args[..], more].concat()).ends(0).json()
    };
    let mut timed = check(&[]);
    let untimed = check(&["--no-timing"]);
    assert_eq!(untimed["results"][0].get("timing"), None);
    timed["results"][0]
        .as_object_mut()
        .unwrap()
        .remove("timing");
    assert_eq!(timed, untimed);
}

#[test]
fn nothing_is_coloured_unless_it_is_asked_for() {
    let escape = '\u{1b}';
    let plain = runkey(&["run", "crash-before-ack"]).ends(0);
    assert!(!plain.stdout.contains(escape));
    let coloured = runkey(&["run", "crash-before-ack", "--color", "always"]).ends(0);
    assert!(coloured.stdout.contains(escape));
    let asked_not_to = folder().runkey_with(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        &["run", "crash-before-ack"],
    );
    assert_eq!(asked_not_to.stdout, plain.stdout);
    let never = runkey(&["run", "crash-before-ack", "--color", "never"]).ends(0);
    assert_eq!(never.stdout, plain.stdout);
}

#[test]
fn results_are_never_written_over_what_they_are_made_of() {
    let plan = "scenario = 'replicas.toml'\nseed = 1\n";
    let folder = folder()
        .with("replicas.toml", REPLICAS)
        .with("plan.toml", plan);
    let here = folder.path().join("replicas.toml");
    for (args, output) in [
        (["check", "replicas.toml"], "replicas.toml"),
        (["check", "./replicas.toml"], here.to_str().unwrap()),
        (["run", "replicas.toml"], "./replicas.toml"),
        (["replay", "plan.toml"], "plan.toml"),
        (["replay", "plan.toml"], "replicas.toml"),
    ] {
        let done = folder
            .runkey(&[&args[..], &["--output", output]].concat())
            .ends(2);
        assert!(
            done.stderr
                .starts_with(&format!("error: --output {output}: that is the input ")),
            "{}",
            done.stderr
        );
    }
    assert_eq!(fs::read_to_string(here).unwrap(), REPLICAS);
    let left = fs::read_to_string(folder.path().join("plan.toml")).unwrap();
    assert_eq!(left, plan);
}

#[test]
fn results_can_go_to_a_file() {
    let folder = folder();
    let done = folder
        .runkey(&["list", "--format", "json", "--output", "list.json"])
        .ends(0);
    assert_eq!(done.stdout, "");
    let written = fs::read_to_string(folder.path().join("list.json")).unwrap();
    assert_eq!(written, folder.runkey(&["list", "--format", "json"]).stdout);
    let done = folder
        .runkey(&["list", "--output", "no/such/folder/list"])
        .ends(2);
    assert!(
        done.stderr
            .starts_with("error: --output no/such/folder/list: "),
        "{}",
        done.stderr
    );
}

/// It breaks without a fault, so that the check is over at once and the time goes to the swarm.
#[test]
fn plans_beyond_the_bound_are_shrunk_and_not_judged() {
    let folder = folder().with("replicas.toml", REPLICAS);
    let args = ["check", "replicas.toml", "--seeds", "1"];
    let check = |more: &[&str]| folder.runkey(&[&args[..], more].concat());
    let checked = check(&["--beyond", "1000", "--format", "json"])
        .ends(0)
        .json();
    insist(&schema("check"), &checked);
    let beyond = &checked["results"][0]["beyond"];
    assert_eq!(beyond["plans"], 1_000);
    let finds = beyond["finds"].as_array().unwrap();
    assert!(!finds.is_empty());
    for find in finds {
        let token = find["token"].as_str().unwrap();
        let replay = ["replay", token, "replicas.toml", "--format", "json"];
        let replayed = folder.runkey(&replay).ends(0).json();
        for same in ["verdict", "layer", "seed", "plan"] {
            assert_eq!(replayed["results"][0][same], find[same], "{same}");
        }
    }
    let without = check(&["--format", "json"]).ends(0).json();
    assert_eq!(without["results"][0].get("beyond"), None);
    let told = check(&["--beyond", "1000"]).ends(0).stdout;
    assert!(
        told.contains("\n  Beyond   1 to 4 faults at random: "),
        "{told}"
    );
}
