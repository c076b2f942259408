//! Whatever is handed in: exit 2, one sentence with the place, what is allowed, and no panic.

use crate::runkey::*;
use std::fmt::Write;

/// One line for the call, then what is said on stderr.
fn refused(folder: &Folder, text: &mut String, args: &[&str]) {
    let done = folder.runkey(args).ends(2);
    assert_eq!(done.stdout, "", "{args:?}");
    writeln!(text, "$ runkey {}\n{}", args.join(" "), done.stderr).unwrap();
}

#[test]
fn a_bad_scenario_file_is_refused_with_file_line_and_column() {
    let folder = folder()
        .with(
            "unknown-key.toml",
            "name = 'x'\n[guard]\nkind = 'none'\n[work]\ntakse = '5s'\n",
        )
        .with("unknown-table.toml", "[gaurd]\nkind = 'none'\n")
        .with("unknown-guard.toml", "[guard]\nkind = 'hope'\n")
        .with("duration.toml", "[work]\ntakes = '45 parsecs'\n")
        .with(
            "never-fires.toml",
            "[[timer]]\nid = 'x'\nschedule = { cron = '0 0 2 30 2 *' }\n",
        )
        .with("no-executors.toml", "[topology]\nexecutors = 0\n")
        .with(
            "negative-ttl.toml",
            "[guard]\nkind = 'redis_lock'\nttl = '-5s'\n",
        )
        .with("large.toml", vec![b'#'; 10 << 20])
        .with("not-utf8.toml", b"name = 'x'\nabout = '\xff\xfe'\n")
        .with("no-toml.toml", "name = 'x\n")
        .with(
            "two-plans.toml",
            "[[fault]]\nat = { step = 'broker.ack' }\ndo = 'crash'\n[explore]\nfaults = 2\n\
             [expect]\nverdict = 'duplicate'\n",
        );
    let mut text = String::new();
    for file in [
        "unknown-key.toml",
        "unknown-table.toml",
        "unknown-guard.toml",
        "duration.toml",
        "never-fires.toml",
        "no-executors.toml",
        "negative-ttl.toml",
        "large.toml",
        "not-utf8.toml",
        "no-toml.toml",
        "two-plans.toml",
        "missing.toml",
        ".",
    ] {
        refused(&folder, &mut text, &["check", file]);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_bad_file_is_found_before_anything_runs() {
    let folder = folder()
        .with("replicas.toml", REPLICAS)
        .with("bad.toml", "gaurd = 1\n");
    let done = folder
        .runkey(&["check", "replicas.toml", "bad.toml"])
        .ends(2);
    assert_eq!(done.stdout, "");
}

#[test]
fn a_bad_token_is_refused_with_the_reason() {
    let folder = folder().with("replicas.toml", REPLICAS);
    let checked = folder.runkey(&[
        "check",
        "crash-before-ack",
        "--seeds",
        "1",
        "--format",
        "json",
    ]);
    let token = checked.ends(0).json()["results"][0]["counterexample"]["token"].clone();
    let token = token.as_str().unwrap();
    let half = &token[..token.len() / 2];
    let last = if token.ends_with('0') { '1' } else { '0' };
    let changed = format!("{}{last}", &token[..token.len() - 1]);

    let said = |args: &[&str]| folder.runkey(args).ends(2).stderr;
    assert_eq!(
        said(&["replay", half]),
        format!("error: `{half}`: the token is cut off; paste all of it\n")
    );
    assert_eq!(
        said(&["replay", &changed]),
        format!(
            "error: `{changed}`: the token is damaged: its check digits do not fit; paste it again\n"
        )
    );
    let other = said(&["replay", token, "replicas.toml"]);
    assert!(
        other.starts_with("error: the token is of another scenario (hash "),
        "{other}"
    );
    assert_eq!(
        said(&["replay", "hello"]),
        "error: `hello`: not a token; a token begins with `rk1-`\n"
    );
    let of_no_other = folder
        .runkey(&["run", "replicas.toml", "--format", "json"])
        .ends(0)
        .json();
    let foreign = of_no_other["results"][0]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let unknown = said(&["replay", &foreign]);
    assert!(
        unknown.contains("name the scenario's file behind the token"),
        "{unknown}"
    );
}

#[test]
fn an_unknown_scenario_is_refused_with_what_may_have_been_meant() {
    let done = runkey(&["check", "naive-in-flight-chek"]).ends(2);
    assert_eq!(
        done.stderr,
        "error: there is no scenario `naive-in-flight-chek` in the catalogue, and no such file; did \
         you mean naive-in-flight-check? (runkey list shows all)\n"
    );
}

#[test]
fn a_format_of_a_later_version_is_refused_with_what_is_allowed() {
    let done = runkey(&["list", "--format", "junit"]).ends(2);
    assert!(
        done.stderr
            .contains("[possible values: human, json, jsonl, markdown]"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_bad_plan_file_is_refused() {
    let folder = folder()
        .with("typo.toml", "scenario = 'crash-before-ack'\nsede = 1\n")
        .with("nowhere.toml", "scenario = 'no-such-scenario'\n")
        .with(
            "half-a-site.toml",
            "scenario = 'crash-before-ack'\n[[fault]]\nat = { step = 'broker.ack' }\ndo = 'crash'\n",
        );
    let mut text = String::new();
    for file in [
        "typo.toml",
        "nowhere.toml",
        "half-a-site.toml",
        "missing.toml",
    ] {
        refused(&folder, &mut text, &["replay", file]);
    }
    insta::assert_snapshot!(text);
}
