//! Certificates: issued, refused, verified, and held against what changes.

use crate::runkey::*;
use serde_json::{Value, json};
use std::fs;

/// Sound, and small: one claim between two instances, and a key at the downstream.
const SOUND: &str = "
name = 'sound'
[[timer]]
id = 'report'
slots = 1
[topology]
kind = 'queued'
schedulers = 1
executors = 1
[guard]
kind = 'state_machine'
[downstream]
protection = { kind = 'idempotency_key' }
[explore]
faults = 1
seeds = '1..2'
";

fn certified(scenario: &str) -> Folder {
    let folder = folder().with("sound.toml", scenario);
    folder
        .runkey(&["check", "sound.toml", "--certificate", "c.json"])
        .ends(0);
    folder
}

fn certificate(folder: &Folder) -> Value {
    serde_json::from_str(&text(folder)).unwrap()
}

fn text(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join("c.json")).unwrap()
}

/// The certificate with one text in the place of another, and what `verify` says of it.
fn verified_with(from: &str, to: &str) -> Done {
    let folder = certified(SOUND);
    let changed = text(&folder).replace(from, to);
    assert_ne!(changed, text(&folder), "{from}");
    let folder = folder.with("c.json", changed);
    folder.runkey(&["verify", "c.json"])
}

/// Puts the seal right after a change, as somebody would who means it.
fn sealed_anew(folder: Folder, change: impl FnOnce(&mut Value)) -> Folder {
    let mut file = certificate(&folder);
    let one = &mut file["results"][0];
    change(one);
    let certificate: explore::certificate::Certificate =
        serde_json::from_value(one.clone()).unwrap();
    let text = explore::certificate::Certificate::write(vec![certificate.sealed()]);
    folder.with("c.json", text)
}

#[test]
fn a_certificate_says_what_was_exhausted_and_what_was_not() {
    let folder = certified(SOUND);
    let claim = &certificate(&folder)["results"][0]["claim"];
    assert_eq!(claim["promise"], "exactly_once");
    assert_eq!(
        claim["explored"]["spaces"],
        json!([{ "space": "core/1", "max_faults": 1 }])
    );
    assert_eq!(claim["explored"]["seeds"], "1..2");
    let plain = folder
        .runkey(&["check", "sound.toml", "--format", "json"])
        .ends(0)
        .json();
    let result = &plain["results"][0];
    for key in ["sites", "faults", "plans", "digest"] {
        assert_eq!(claim["explored"][key], result["explored"][key], "{key}");
    }
    // Without a file the JSON still says what is proved.
    assert_eq!(&result["certificate"], claim);
}

#[test]
fn every_cell_of_the_space_was_struck_or_is_listed_with_why() {
    let folder = certified(SOUND);
    let check = folder
        .runkey(&["check", "sound.toml", "--format", "json"])
        .ends(0)
        .json();
    let result = &check["results"][0];
    let mut cells: Vec<String> = result["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| {
            format!(
                "{}@{}",
                cell["kind"].as_str().unwrap(),
                cell["step"].as_str().unwrap()
            )
        })
        .collect();
    for listed in result["certificate"]["never_reached"].as_array().unwrap() {
        assert_ne!(listed["why"], "");
        for kind in listed["kinds"].as_array().unwrap() {
            cells.push(format!(
                "{}@{}",
                kind.as_str().unwrap(),
                listed["step"].as_str().unwrap()
            ));
        }
    }
    cells.sort();
    let scenario = scenarios::Scenario::parse(SOUND, "sound.toml").unwrap();
    let space = scenarios::spec::Bounds::new(&scenario, scenarios::spec::Space::Core);
    let mut all: Vec<String> = space.cells().iter().map(ToString::to_string).collect();
    all.sort();
    assert_eq!(cells, all);
}

#[test]
fn what_was_never_reached_does_not_depend_on_merging() {
    let folder = folder().with("sound.toml", SOUND);
    let never_reached = |args: &[&str]| {
        let args = [
            &["check", "sound.toml", "--faults", "2", "--format", "json"],
            args,
        ]
        .concat();
        let document = folder.runkey(&args).ends(0).json();
        let result = document["results"][0].clone();
        let merged = result["explored"]["merged"].as_u64().unwrap();
        (merged, result["certificate"]["never_reached"].clone())
    };
    let (merged, with) = never_reached(&[]);
    let (unmerged, without) = never_reached(&["--no-merging"]);
    assert!(merged > 0 && unmerged == 0);
    assert_eq!(with, without);
}

#[test]
fn the_same_check_gives_the_same_bytes_and_they_verify() {
    let folder = certified(SOUND);
    let first = text(&folder);
    folder
        .runkey(&[
            "check",
            "sound.toml",
            "--certificate",
            "c.json",
            "--jobs",
            "1",
        ])
        .ends(0);
    assert_eq!(first, text(&folder));
    let sample = folder.runkey(&["verify", "c.json"]).ends(0);
    assert_eq!(
        sample.stdout,
        "sound: exactly_once under every plan of up to 1 fault of core/1, seeds 1..2\n  \
         VERIFIED  110 plans of its sample give the same histories\n"
    );
    let full = folder
        .runkey(&["verify", "c.json", "--full", "sound.toml"])
        .ends(0);
    assert!(full.stdout.contains("VERIFIED  all "), "{}", full.stdout);
}

#[test]
fn a_history_that_differs_is_told_with_its_plan() {
    let folder = sealed_anew(certified(SOUND), |one| {
        one["sample"][3]["trace_hash"] = json!("0123456789abcdef");
    });
    let sampled = certificate(&folder)["results"][0]["sample"][3].clone();
    let done = folder.runkey(&["verify", "c.json"]).ends(102);
    let begins = format!(
        "error: c.json: plan {} (seed {}) gave history 0123456789abcdef when",
        sampled["token"].as_str().unwrap(),
        sampled["seed"]
    );
    assert!(done.stderr.starts_with(&begins), "{}", done.stderr);
    assert!(done.stdout.contains("NOT VERIFIED"), "{}", done.stdout);
}

#[test]
fn a_digest_that_differs_is_found_when_all_is_explored_again() {
    let folder = sealed_anew(certified(SOUND), |one| {
        one["claim"]["explored"]["digest"] = json!("0123456789abcdef0123456789abcdef");
    });
    folder.runkey(&["verify", "c.json"]).ends(0);
    let done = folder.runkey(&["verify", "c.json", "--full"]).ends(102);
    let begins = "error: c.json: the digest was 0123456789abcdef0123456789abcdef when";
    assert!(done.stderr.starts_with(begins), "{}", done.stderr);
}

#[test]
fn a_deeper_claim_than_was_explored_is_found_when_all_is_explored_again() {
    let folder = sealed_anew(certified(SOUND), |one| {
        one["claim"]["explored"]["spaces"][0]["max_faults"] = json!(2);
    });
    let done = folder.runkey(&["verify", "c.json", "--full"]).ends(102);
    let begins = "error: c.json: the number of plans was ";
    assert!(done.stderr.starts_with(begins), "{}", done.stderr);
}

#[test]
fn a_scenario_that_has_changed_since_is_told() {
    let folder = certified(SOUND).with("sound.toml", format!("{SOUND}[work]\ntakes = '1s'\n"));
    // The certificate is still true of what it is of.
    folder.runkey(&["verify", "c.json"]).ends(0);
    let done = folder.runkey(&["verify", "c.json", "sound.toml"]).ends(102);
    let begins = "error: c.json: the hash of the scenario was ";
    assert!(done.stderr.starts_with(begins), "{}", done.stderr);
    // A name of the catalogue, but not its scenario.
    let named = SOUND.replace("'sound'", "'recommended-stack'");
    let named = format!("{named}[work]\ntakes = '1234ms'\n");
    certified(&named).runkey(&["verify", "c.json"]).ends(102);
}

#[test]
fn a_certificate_that_cannot_be_verified_is_refused_with_why() {
    let version = format!("\"runkey\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let digits = certificate(&certified(SOUND))["results"][0]["seal"].clone();
    for (from, to, why) in [
        (
            "runkey.certificate/1",
            "runkey.certificate/2",
            "of schema `runkey.certificate/2`",
        ),
        (
            version.as_str(),
            "\"runkey\": \"9.9.9\"",
            "issued by runkey 9.9.9",
        ),
        (
            digits.as_str().unwrap(),
            "0",
            "is damaged: its seal does not fit",
        ),
        (
            "\"sites\": ",
            "\"sites\": 1",
            "is damaged: its seal does not fit",
        ),
        (
            "\"sites\": ",
            "\"sites\": -",
            "no certificate, or one that is cut off",
        ),
        (
            "\"sample\": [",
            "\"samples\": [",
            "no certificate, or one that is cut off",
        ),
        ("]\n}\n", "]\n", "no certificate, or one that is cut off"),
    ] {
        let done = verified_with(from, to).ends(2);
        assert!(done.stderr.contains(why), "{why}: {}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    for content in ["", "{}", "[]", "\u{1}\u{2}", "{\"schema\": 7}", "null"] {
        let done = folder()
            .with("c.json", content)
            .runkey(&["verify", "c.json"])
            .ends(2);
        let begins = "error: c.json: no certificate, or one that is cut off: ";
        assert!(done.stderr.starts_with(begins), "{}", done.stderr);
    }
    runkey(&["verify", "missing.json"]).ends(2);
    runkey(&["verify", "."]).ends(2);
}

#[test]
fn a_set_up_that_is_another_than_the_claims_is_refused() {
    let folder = sealed_anew(certified(SOUND), |one| {
        let text = one["set_up"]
            .as_str()
            .unwrap()
            .replace("takes = \"0s\"", "takes = \"1s\"");
        one["set_up"] = json!(text);
    });
    let done = folder.runkey(&["verify", "c.json"]).ends(2);
    assert!(done.stderr.contains("has another hash"), "{}", done.stderr);
    let folder = sealed_anew(certified(SOUND), |one| {
        one["claim"]["explored"]["spaces"][0]["space"] = json!("core/7");
    });
    let done = folder.runkey(&["verify", "c.json"]).ends(2);
    assert!(done.stderr.contains("space `core/7`"), "{}", done.stderr);
    let folder = sealed_anew(certified(SOUND), |one| {
        one["sample"][3]["token"] = json!("rk1-0");
    });
    let done = folder.runkey(&["verify", "c.json"]).ends(2);
    let begins = "error: c.json: plan 4 of the sample, `rk1-0`: ";
    assert!(done.stderr.starts_with(begins), "{}", done.stderr);
}

#[test]
fn what_proves_nothing_is_refused_with_the_reason() {
    // A failure is expected.
    let folder = folder().with("replicas.toml", REPLICAS);
    let args = ["check", "replicas.toml", "--certificate", "c.json"];
    let done = folder.runkey(&args).ends(103);
    assert_eq!(
        done.stderr,
        "error: replicas: no certificate: what is expected is a failure (duplicate), not a promise\n"
    );
    assert_eq!(certificate(&folder)["results"], json!([]));
    folder.runkey(&["verify", "c.json"]).ends(2);

    // The promise breaks.
    let folder = folder.with("overstated.toml", OVERSTATED);
    let args = ["check", "overstated.toml", "--certificate", "c.json"];
    let done = folder.runkey(&args).ends(100);
    assert!(
        done.stderr.contains("overstated: no certificate: "),
        "{}",
        done.stderr
    );

    // The budget ends early.
    let folder = folder.with("sound.toml", SOUND);
    let args = [
        "check",
        "sound.toml",
        "--certificate",
        "c.json",
        "--for",
        "0s",
    ];
    let done = folder.runkey(&args).ends(103);
    assert!(
        done.stderr
            .ends_with("error: no certificate: nothing was checked\n"),
        "{}",
        done.stderr
    );

    // No execution has any effect.
    let idle = "[judge]\npromise = 'at_most_once'\n[work]\nhandler = 'fails'\n[explore]\nfaults = 1\n\
                [expect]\nverdict = 'holds'\n";
    let folder = folder.with("idle.toml", idle);
    let args = ["check", "idle.toml", "--certificate", "c.json"];
    let done = folder.runkey(&args).ends(103);
    assert_eq!(
        done.stderr,
        "error: idle: no certificate: no execution had any effect\n"
    );
}

#[test]
fn a_promise_that_names_what_no_fault_reaches_is_not_certified() {
    let naming = |cell: &str| {
        let text = format!("{SOUND}[expect]\nverdict = 'exactly_once'\nby = ['{cell}']\n");
        let folder = folder().with("sound.toml", text);
        folder.runkey(&["check", "sound.toml", "--certificate", "c.json"])
    };
    naming("crash@broker.ack").ends(0);
    for (cell, why) in [
        (
            "crash@lock.renew",
            "no such step here: the guard makes no such call",
        ),
        ("crash@broker.reject", "none of 140 plans came to this step"),
        (
            "crash@broker.defer",
            "plans came to it only behind as many faults as were explored",
        ),
    ] {
        let done = naming(cell).ends(103);
        assert_eq!(
            done.stderr,
            format!(
                "error: sound: no certificate: the scenario names {cell}, which no plan reached: \
                 {why}\n"
            )
        );
    }
}

#[test]
fn a_certificate_never_goes_over_its_scenario_nor_into_nothing() {
    let folder = folder().with("sound.toml", SOUND);
    let over = ["check", "sound.toml", "--certificate", "./sound.toml"];
    folder.runkey(&over).ends(2);
    assert_eq!(
        fs::read_to_string(folder.path().join("sound.toml")).unwrap(),
        SOUND
    );
    let nowhere = ["check", "sound.toml", "--certificate", "missing/c.json"];
    assert_eq!(folder.runkey(&nowhere).ends(2).stdout, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_the_certificate_and_not_the_result() {
    let folder = folder().with("sound.toml", SOUND);
    let done = folder
        .runkey(&["check", "sound.toml", "--certificate", "/dev/full"])
        .ends(1);
    assert!(done.stdout.contains("EXACTLY ONCE"), "{}", done.stdout);
    let begins = "error: the certificate /dev/full cannot be written: ";
    assert!(done.stderr.starts_with(begins), "{}", done.stderr);
}

#[test]
fn the_number_of_faults_has_limits_that_are_told() {
    for faults in ["-1", "9", "255", "256", "two", ""] {
        let done = runkey(&["check", "recommended-stack", "--faults", faults]).ends(2);
        assert!(
            done.stderr.contains("allowed are 0 to 8 faults at once"),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn a_check_that_proves_nothing_leaves_an_earlier_certificate_alone() {
    let folder = certified(SOUND).with("replicas.toml", REPLICAS);
    let before = text(&folder);
    let args = ["check", "replicas.toml", "--certificate", "c.json"];
    folder.runkey(&args).ends(103);
    assert_eq!(text(&folder), before);
}
