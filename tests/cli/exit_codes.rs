//! Each exit code, and which of several wins.

use crate::runkey::*;

fn four() -> Folder {
    folder()
        .with("replicas.toml", REPLICAS)
        .with("claimed.toml", CLAIMED)
        .with("overstated.toml", OVERSTATED)
        .with("never-reached.toml", NEVER_REACHED)
}

#[test]
fn an_expectation_that_holds_ends_with_0() {
    four()
        .runkey(&["check", "replicas.toml", "claimed.toml"])
        .ends(0);
}

#[test]
fn an_expectation_that_does_not_hold_ends_with_100() {
    let done = four().runkey(&["check", "overstated.toml"]).ends(100);
    assert!(done.stdout.contains("NOT as expected"), "{}", done.stdout);
}

#[test]
fn a_bound_below_the_faults_needed_ends_with_103_never_with_0_or_100() {
    let done = runkey(&["check", "crash-before-ack", "--faults", "0"]).ends(103);
    assert!(done.stdout.contains("inconclusive"), "{}", done.stdout);
    assert!(
        done.stdout.contains("only 0 faults explored"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_failure_outside_a_narrowed_space_ends_with_103_and_says_so() {
    for (args, explored) in [
        (["operator-replay", "--faults", "1"], "core to 1"),
        (["operator-replay", "--space", "core"], "core to 2"),
        (["finalise-check-off", "--faults", "1"], "core to 1"),
    ] {
        let done = runkey(&[&["check"], &args[..]].concat()).ends(103);
        let says = format!(
            "the command line explores less than the scenario declares: {explored}, not core to 2 \
             and full to 1"
        );
        assert!(done.stdout.contains(&says), "{}", done.stdout);
    }
    runkey(&["check", "crash-before-ack", "--faults", "1"]).ends(0);
}

#[test]
fn a_contradiction_inside_a_narrowed_space_still_ends_with_100() {
    let folder = folder()
        .with("promises.toml", "[guard]\nkind = 'none'\n")
        .with(
            "two-needed.toml",
            "[guard]\nkind = 'none'\n[expect]\nverdict = 'duplicate'\nfaults_needed = 2\n",
        );
    for (file, narrowing) in [
        ("promises.toml", ["--faults", "1"]),
        ("two-needed.toml", ["--faults", "2"]),
        ("two-needed.toml", ["--seeds", "1..2"]),
    ] {
        folder
            .runkey(&[&["check", file], &narrowing[..]].concat())
            .ends(100);
    }
}

#[test]
fn a_budget_that_ends_early_ends_with_103_and_names_what_was_not_checked() {
    let done = four()
        .runkey(&["check", "replicas.toml", "claimed.toml", "--for", "0s"])
        .ends(103);
    assert_eq!(
        done.stderr,
        "note: the time budget ran out: 2 not checked\n"
    );
    assert_eq!(done.stdout, "");
}

#[test]
fn a_plan_whose_site_is_not_reached_ends_with_102_and_names_it() {
    let done = four().runkey(&["check", "never-reached.toml"]).ends(102);
    assert!(done.stderr.contains("crash@timer.fire"), "{}", done.stderr);
    let done = four().runkey(&["run", "never-reached.toml"]).ends(102);
    assert!(done.stderr.contains("crash@timer.fire"), "{}", done.stderr);
}

#[test]
fn usage_ends_with_2() {
    runkey(&[]).ends(2);
    runkey(&["chekc"]).ends(2);
    runkey(&["check"]).ends(2);
    runkey(&["check", "--all", "crash-before-ack"]).ends(2);
    runkey(&["check", "crash-before-ack", "--jobs", "0"]).ends(2);
    runkey(&["check", "crash-before-ack", "--seeds", "3..1"]).ends(2);
    runkey(&["check", "crash-before-ack", "--space", "all"]).ends(2);
    runkey(&["check", "crash-before-ack", "--shard", "1/2"]).ends(2);
}

#[test]
fn help_and_version_end_with_0() {
    for verb in [
        "list",
        "run",
        "check",
        "margin",
        "replay",
        "init",
        "completions",
    ] {
        let done = runkey(&[verb, "--help"]).ends(0);
        assert!(done.stdout.contains("Example"), "{verb}: {}", done.stdout);
    }
    runkey(&["--help"]).ends(0);
    assert!(runkey(&["--version"]).ends(0).stdout.starts_with("runkey "));
}

#[test]
fn a_filter_that_matches_nothing_ends_with_4() {
    runkey(&["list", "no-such-name"]).ends(4);
    runkey(&["list", "crash-before-ack", "--layer", "effect"]).ends(4);
}

#[test]
fn of_several_scenarios_the_gravest_code_wins_and_all_are_told() {
    let done = four()
        .runkey(&[
            "check",
            "never-reached.toml",
            "overstated.toml",
            "replicas.toml",
        ])
        .ends(102);
    assert!(done.stdout.contains("overstated "), "{}", done.stdout);
    assert!(done.stdout.contains("replicas "), "{}", done.stdout);
    four()
        .runkey(&["check", "overstated.toml", "replicas.toml", "claimed.toml"])
        .ends(100);
}

#[test]
fn run_and_replay_end_with_0_whatever_the_verdict() {
    let done = four().runkey(&["run", "replicas.toml"]).ends(0);
    assert!(
        done.stdout
            .contains("DUPLICATE at layer scheduling, no fault"),
        "{}",
        done.stdout
    );
}
