//! Finished work in a file: killed and gone on with, shared out and merged, and a disk that is full.

use crate::runkey::*;
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::process::{Command, Stdio};

/// Small, and sound to two faults.
pub const SMALL: &str = "
name = 'small'
[[timer]]
id = 'report'
slots = 1
[topology]
schedulers = 1
executors = 1
[guard]
kind = 'state_machine'
[downstream]
protection = { kind = 'idempotency_key' }
[explore]
faults = 2
seeds = '1..4'
";

/// Without its protection: broken by one fault, with a repair that is not.
const BROKEN: &str = "
name = 'broken'
[[timer]]
id = 'report'
slots = 1
[topology]
schedulers = 1
executors = 1
[guard]
kind = 'state_machine'
[explore]
faults = 2
seeds = '1..2'
[expect]
verdict = 'duplicate'
faults_needed = 1
also = ['misrecorded']
[[repair]]
name = 'a key'
set = { 'downstream.protection' = { kind = 'idempotency_key' } }
expect = { verdict = 'exactly_once' }
";

pub fn with_small() -> Folder {
    folder().with("small.toml", SMALL)
}

/// Without times, and as a program reads it.
fn plain<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let plain: &[&str] = match args[0] {
        "merge" => &["--format", "json"],
        _ => &["--format", "json", "--no-timing"],
    };
    [args, plain].concat()
}

#[cfg(unix)]
#[test]
fn a_check_that_was_killed_is_gone_on_with() {
    let folder = with_small();
    let args = ["check", "small.toml", "--seeds", "1..16", "--jobs", "1"];
    let resumed = [&args[..], &["--resume", "small.journal"]].concat();
    let journal = folder.path().join("small.journal");
    let mut child = Command::new(cargo_bin!("runkey"))
        .args(&resumed)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Some batches are finished, and most are not.
    while fs::metadata(&journal).map_or(0, |data| data.len()) < 30_000 {
        assert!(
            child.try_wait().unwrap().is_none(),
            "ended before it was killed"
        );
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);

    let killed = fs::read(&journal).unwrap();
    let alone = folder.runkey(&plain(&args)).ends(0);
    let again = folder.runkey(&plain(&resumed)).ends(0);
    assert_eq!(again.stdout, alone.stdout);
    // What was finished before was not done again: the file only grew, but for a torn record.
    let gone_on = fs::read(&journal).unwrap();
    let kept = killed
        .iter()
        .zip(&gone_on)
        .take_while(|(one, other)| one == other)
        .count();
    assert!(
        killed.len() - kept < 4_000,
        "{} of {} kept",
        kept,
        killed.len()
    );
    // And now there is nothing left to do.
    let third = folder.runkey(&plain(&resumed)).ends(0);
    assert_eq!(third.stdout, alone.stdout);
    assert_eq!(fs::read(&journal).unwrap(), gone_on);
}

#[test]
fn shards_together_are_what_one_process_gives_also_where_something_breaks() {
    // At the level that is shared out: in every batch, and in few of many.
    for (scenario, faults) in [("crash-before-ack", "1"), ("no-catch-up", "2")] {
        let folder = with_small().with("broken.toml", BROKEN);
        let args = [
            "check",
            "broken.toml",
            "small.toml",
            scenario,
            "--faults",
            faults,
            "--seeds",
            "1..2",
        ];
        let alone = folder.runkey(&plain(&args)).ends(0);
        let files = ["1", "2", "3"].map(|number| format!("{number}.journal"));
        for (number, file) in (1..).zip(&files) {
            let shard = format!("{number}/3");
            let shard = [&args[..], &["--shard", &shard, "--resume", file]].concat();
            let told = folder.runkey(&shard).ends(0).stdout;
            let begins = format!("broken: shard {number}/3 done, ");
            assert!(told.starts_with(&begins), "{told}");
        }
        // In any order, and without the scenario files.
        fs::remove_file(folder.path().join("small.toml")).unwrap();
        let merge = ["merge", &files[2], &files[0], &files[1]];
        let merged = folder.runkey(&plain(&merge)).ends(0);
        assert_eq!(merged.stdout, alone.stdout);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_the_journal_and_not_the_result() {
    let folder = with_small();
    let alone = folder.runkey(&plain(&["check", "small.toml"])).ends(0);
    let full = ["check", "small.toml", "--resume", "/dev/full"];
    let done = folder.runkey(&plain(&full)).ends(1);
    assert_eq!(done.stdout, alone.stdout);
    assert_eq!(
        done.stderr,
        "error: /dev/full: it cannot be written: No space left on device (os error 28)\n"
    );
    // A shard would leave nothing at all.
    let shard = [
        "check",
        "small.toml",
        "--shard",
        "1/2",
        "--resume",
        "/dev/full",
    ];
    assert_eq!(folder.runkey(&shard).ends(1).stdout, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_on_the_way_is_told_with_the_result() {
    let folder = with_small();
    let alone = folder.runkey(&plain(&["check", "small.toml"])).ends(0);
    // 16 blocks of 512 or 1024 bytes are enough to begin with.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" check small.toml --format json --no-timing \
                  --resume small.journal";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(cargo_bin!("runkey"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), alone.stdout);
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: small.journal: from some batch on nothing could be written: File too large (os error 27)\n"
    );
    // What was written is of use.
    let args = ["check", "small.toml", "--resume", "small.journal"];
    assert_eq!(folder.runkey(&plain(&args)).ends(0).stdout, alone.stdout);
}
