//! Readers that go away, and Ctrl-C.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

/// A command whose stdout and stderr are ours.
fn started(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_runkey"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn said(child: &mut Child) -> String {
    let mut text = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    for args in [
        &["list"][..],
        &["run", "crash-before-ack"],
        &["run", "crash-before-ack", "--format", "jsonl"],
        &["completions", "bash"],
        &["check", "crash-before-ack", "--seeds", "1"],
        &[
            "check",
            "crash-before-ack",
            "--seeds",
            "1",
            "--format",
            "json",
        ],
    ] {
        let mut child = started(args);
        drop(child.stdout.take());
        assert_eq!(said(&mut child), "", "{args:?}");
        let code = child.wait().unwrap().code();
        let cut = args[0] == "check";
        assert_eq!(code, Some(if cut { 103 } else { 0 }), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_margins_with_those_that_were_found() {
    // No fault is needed to break it, which is soon found; its settings take minutes.
    let args = ["margin", "two-schedulers-no-claim", "--all"];
    let more = ["--format", "jsonl", "--seeds", "1..20000"];
    let mut child = started(&[&args[..], &more].concat());
    let mut results = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(results.next().unwrap().unwrap().contains("clock_step"));
    interrupt(&child);
    results.map(Result::unwrap).for_each(drop);
    assert!(said(&mut child).starts_with("note: interrupted: "));
    assert_eq!(child.wait().unwrap().code(), Some(103));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_check_with_what_was_found_so_far() {
    // The first result shows that the command is at work; the second would take hours.
    let endless = [
        "recommended-stack",
        "--faults",
        "8",
        "--format",
        "jsonl",
        "--seeds",
        "1",
    ];
    let mut child = started(&[&["check", "crash-before-ack"], &endless[..]].concat());
    let mut results = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        results
            .next()
            .unwrap()
            .unwrap()
            .contains("\"scenario\":\"crash-before-ack\"")
    );
    interrupt(&child);

    let last = results.next().map(Result::unwrap);
    if let Some(last) = last {
        let last: serde_json::Value = serde_json::from_str(&last).unwrap();
        assert_eq!(last["scenario"], "recommended-stack");
        assert_eq!(last["met"], serde_json::Value::Null);
        assert_eq!(last["explored"]["exhausted"], false);
    }
    assert_eq!(child.wait().unwrap().code(), Some(103));
}
