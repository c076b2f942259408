//! Journals that do not belong where they are handed in: one sentence, and left as they are.

use crate::journals::{SMALL, with_small};
use crate::runkey::*;
use std::fs;

/// Two shards, done.
fn two_shards() -> Folder {
    let folder = with_small();
    for shard in ["1", "2"] {
        let of = format!("{shard}/2");
        let file = format!("{shard}.journal");
        folder
            .runkey(&["check", "small.toml", "--shard", &of, "--resume", &file])
            .ends(0);
    }
    folder
}

#[test]
fn what_is_missing_or_there_twice_is_named() {
    let folder = two_shards();
    let merge = |files: &[&str]| {
        let done = folder.runkey(&[&["merge"], files].concat()).ends(2);
        assert_eq!(done.stdout, "");
        done.stderr
    };
    assert_eq!(merge(&["1.journal"]), "error: shard 2/2 is missing\n");
    assert_eq!(
        merge(&["2.journal", "1.journal", "./2.journal"]),
        "error: shard 2/2 is there twice: 2.journal and ./2.journal\n"
    );
    assert_eq!(
        merge(&["1.journal", "3.journal"]),
        "error: 3.journal: No such file or directory (os error 2)\n"
    );
    let of_three = [
        "check",
        "small.toml",
        "--shard",
        "3/3",
        "--resume",
        "3.journal",
    ];
    folder.runkey(&of_three).ends(0);
    assert_eq!(
        merge(&["1.journal", "3.journal"]),
        "error: 1.journal is shard 1/2, and 3.journal is shard 3/3: of two ways to share the work\n"
    );
    let others = [
        "check",
        "small.toml",
        "--faults",
        "1",
        "--shard",
        "2/2",
        "--resume",
        "4.journal",
    ];
    folder.runkey(&others).ends(0);
    assert_eq!(
        merge(&["1.journal", "4.journal"]),
        "error: 4.journal: of another check than 1.journal: it is of `check small.toml --faults 1`, \
         not of `check small.toml`\n"
    );
    folder
        .runkey(&["check", "small.toml", "--resume", "5.journal"])
        .ends(0);
    assert_eq!(
        merge(&["5.journal"]),
        "error: 5.journal: no shard but a whole check; go on with it by check --resume 5.journal\n"
    );
}

#[test]
fn a_shard_that_did_not_come_to_its_end_is_named() {
    let folder = two_shards();
    let cut = [
        "check",
        "small.toml",
        "--shard",
        "2/2",
        "--resume",
        "cut.journal",
        "--for",
        "0s",
    ];
    folder.runkey(&cut).ends(103);
    let done = folder
        .runkey(&["merge", "1.journal", "cut.journal"])
        .ends(2);
    assert_eq!(
        done.stderr,
        "error: cut.journal: shard 2/2 has not come to the end of small; run it again to go on\n"
    );
}

#[test]
fn a_journal_of_something_else_is_refused_and_left_as_it_is() {
    let folder = two_shards().with("other.toml", SMALL.replace("'small'", "'other'"));
    let before = fs::read(folder.path().join("1.journal")).unwrap();
    let refused = |args: &[&str], why: &str| {
        let args = [&["check"], args, &["--resume", "1.journal"]].concat();
        let done = folder.runkey(&args).ends(2);
        assert_eq!(
            done.stderr,
            format!("error: 1.journal: another journal: {why}\n")
        );
        assert_eq!(done.stdout, "");
    };
    refused(
        &["other.toml", "--shard", "1/2"],
        "it is of `check small.toml`, not of `check other.toml`",
    );
    refused(
        &["small.toml", "--seeds", "1..2", "--shard", "1/2"],
        "it is of `check small.toml`, not of `check small.toml --seeds 1..2`",
    );
    refused(&["small.toml", "--shard", "2/2"], "it is of shard 1/2");
    refused(&["small.toml"], "it is of shard 1/2");
    let folder = folder.with("small.toml", format!("{SMALL}[work]\ntakes = '1s'\n"));
    let refused = |text: &str| {
        let args = [
            "check",
            "small.toml",
            "--shard",
            "1/2",
            "--resume",
            "1.journal",
        ];
        let done = folder.runkey(&args).ends(2);
        assert_eq!(
            done.stderr,
            format!("error: 1.journal: another journal: {text}\n")
        );
    };
    refused("small has changed since");
    // What is expected is no part of the hash, and decides what counts as found.
    fs::write(
        folder.path().join("small.toml"),
        format!("{SMALL}[expect]\nverdict = 'exactly_once'\nfaults = 1\n"),
    )
    .unwrap();
    refused("a scenario file has changed since");
    assert_eq!(fs::read(folder.path().join("1.journal")).unwrap(), before);
}

#[test]
fn whatever_is_in_the_file_it_is_one_sentence_and_never_a_panic() {
    let folder = two_shards();
    let good = fs::read(folder.path().join("1.journal")).unwrap();
    let mut changed = good.clone();
    let middle = good.len() / 2;
    changed[middle] ^= 1;
    let cases: [(&[u8], &str); 5] = [
        (
            b"name = 'x'\n",
            "it is no journal of runkey, or one of another version; it is left as it is",
        ),
        (
            &[0; 5000],
            "it is no journal of runkey, or one of another version; it is left as it is",
        ),
        (
            &good[..10],
            "it ends before it says what it is of; delete it and begin anew",
        ),
        (
            &good[..40],
            "it ends before it says what it is of; delete it and begin anew",
        ),
        (&changed, "it is damaged at byte "),
    ];
    for (bytes, why) in cases {
        let folder = with_small().with("x.journal", bytes);
        for args in [
            &["check", "small.toml", "--resume", "x.journal"][..],
            &["merge", "x.journal"],
        ] {
            let done = folder.runkey(args).ends(2);
            let begins = format!("error: x.journal: {why}");
            assert!(
                done.stderr.starts_with(&begins),
                "{args:?}: {}",
                done.stderr
            );
            assert_eq!(done.stderr.lines().count(), 1);
        }
        assert_eq!(fs::read(folder.path().join("x.journal")).unwrap(), bytes);
    }
}

#[test]
fn a_shard_of_none_and_a_shard_beyond_the_last_are_refused() {
    for shard in ["0/0", "0/4", "5/4", "1/4097", "1", "-1/4", "a/b"] {
        let shard = format!("--shard={shard}");
        let args = [
            "check",
            "recommended-stack",
            &shard,
            "--resume",
            "x.journal",
        ];
        let done = runkey(&args).ends(2);
        assert!(
            done.stderr.contains("allowed is such as 3/8"),
            "{}",
            done.stderr
        );
    }
    // The results of a shard are in its file, and a certificate is for the merge.
    runkey(&["check", "recommended-stack", "--shard", "1/2"]).ends(2);
    let args = [
        "check",
        "recommended-stack",
        "--shard",
        "1/2",
        "--resume",
        "x",
        "--certificate",
        "c",
    ];
    runkey(&args).ends(2);
}

#[test]
fn a_journal_never_goes_over_a_scenario_nor_results_over_a_journal() {
    let folder = with_small();
    folder
        .runkey(&["check", "small.toml", "--resume", "./small.toml"])
        .ends(2);
    assert_eq!(
        fs::read_to_string(folder.path().join("small.toml")).unwrap(),
        SMALL
    );
    let folder = two_shards();
    let before = fs::read(folder.path().join("1.journal")).unwrap();
    for args in [
        &[
            "check",
            "small.toml",
            "--shard",
            "1/2",
            "--resume",
            "1.journal",
            "--output",
            "./1.journal",
        ][..],
        &[
            "check",
            "small.toml",
            "--resume",
            "1.journal",
            "--certificate",
            "./1.journal",
        ],
        &["merge", "1.journal", "2.journal", "--output", "./1.journal"],
        &[
            "merge",
            "1.journal",
            "2.journal",
            "--certificate",
            "./1.journal",
        ],
    ] {
        folder.runkey(args).ends(2);
        assert_eq!(
            fs::read(folder.path().join("1.journal")).unwrap(),
            before,
            "{args:?}"
        );
    }
}
