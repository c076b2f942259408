//! Finished batches in a file: shared out, cut off, damaged, and put together again.

#![allow(clippy::unwrap_used)]

use runkey_explore::journal::{JournalError, JournalFile};
use runkey_explore::toy::Courier;
use runkey_explore::{
    Bound, Check, Checked, Control, Expectation, Journal, LevelName, Met, Part, Share, Walking,
    check,
};
use scenarios::spec::Space;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

const NAME: &str = "the courier";

/// A folder of its own, gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("runkey-journal-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Three faults at once of a courier with a key, or one without, that breaks.
fn explored(courier: &Courier, share: Option<Share>, journal: Option<&dyn Journal>) -> Checked {
    check(&Check {
        execute: courier,
        seeds: &(1..=2),
        bounds: &[Bound {
            space: Space::Core,
            up_to: 3,
            choices: courier,
        }],
        expectation: &Expectation::Holds { faults: None },
        all_plans: true,
        show_next_up_to: 0,
        walking: Walking {
            share,
            journal,
            ..Walking::default()
        },
        control: &Control::new(),
    })
    .unwrap()
}

const SOUND: Courier = Courier {
    keyed: true,
    tries: 9,
};

const BROKEN: Courier = Courier {
    keyed: false,
    tries: 9,
};

/// Counts what had to be run after all.
struct Counting<'a> {
    kept: &'a dyn Journal,
    run: AtomicU64,
}

impl Journal for Counting<'_> {
    fn finished(&self, level: LevelName, batch: u64) -> Option<Part> {
        self.kept.finished(level, batch)
    }

    fn finish(&self, level: LevelName, batch: u64, part: &Part) {
        self.run.fetch_add(1, Ordering::Relaxed);
        self.kept.finish(level, batch, part);
    }
}

/// The result, and how many batches were run for it.
fn counted(courier: &Courier, kept: &dyn Journal) -> (Checked, u64) {
    let counting = Counting {
        kept,
        run: AtomicU64::new(0),
    };
    let checked = explored(courier, None, Some(&counting));
    (checked, counting.run.into_inner())
}

#[test]
fn shards_together_are_what_one_process_gives() {
    for courier in [SOUND, BROKEN] {
        let alone = explored(&courier, None, None);
        for of in [1, 2, 3, 7] {
            let folder = Folder::new();
            let paths: Vec<PathBuf> = (0..of)
                .map(|number| folder.file(&number.to_string()))
                .collect();
            for (number, path) in (0..).zip(&paths) {
                let file = JournalFile::open(path, "about").unwrap();
                explored(
                    &courier,
                    Some(Share { number, of }),
                    Some(&file.check(NAME)),
                );
                file.end(NAME);
            }
            let files: Vec<JournalFile> = paths
                .iter()
                .map(|path| JournalFile::read(path).unwrap())
                .collect();
            assert!(
                files
                    .iter()
                    .all(|file| file.has_ended(NAME) && !file.has_ended("another"))
            );
            let together = JournalFile::check_in(&files, NAME);
            let (merged, run) = counted(&courier, &together);
            assert_eq!(merged, alone);
            assert_eq!(run, 0);
        }
    }
}

#[test]
fn each_shard_does_a_part_of_the_last_level_and_all_of_the_others() {
    let alone = explored(&SOUND, None, None);
    let share = |number| explored(&SOUND, Some(Share { number, of: 2 }), None);
    let [one, two] = [share(0), share(1)];
    assert_eq!(one.levels[..3], alone.levels[..3]);
    assert_eq!(two.levels[..3], alone.levels[..3]);
    assert!(one.levels[3].plans > 0 && two.levels[3].plans > 0);
    assert_eq!(
        one.levels[3].plans + two.levels[3].plans,
        alone.levels[3].plans
    );
    assert_eq!(alone.met, Met::Yes);
}

#[test]
fn a_journal_that_was_cut_off_anywhere_is_gone_on_with() {
    let folder = Folder::new();
    let whole = folder.file("whole");
    let alone = explored(&SOUND, None, None);
    {
        let file = JournalFile::open(&whole, "about").unwrap();
        assert_eq!(explored(&SOUND, None, Some(&file.check(NAME))), alone);
    }
    let bytes = fs::read(&whole).unwrap();
    let begins = {
        let empty = folder.file("empty");
        drop(JournalFile::open(&empty, "about").unwrap());
        fs::read(&empty).unwrap().len()
    };
    let batches = JournalFile::read(&whole).unwrap().batches();
    let torn = folder.file("torn");
    let mut before = 0;
    for length in (begins..bytes.len()).step_by(97) {
        fs::write(&torn, &bytes[..length]).unwrap();
        let file = JournalFile::open(&torn, "about").unwrap();
        let held = file.batches();
        assert!(held >= before && held < batches);
        before = held;
        let (checked, run) = counted(&SOUND, &file.check(NAME));
        assert_eq!(checked, alone, "cut off at byte {length}");
        assert_eq!(run as usize, batches - held);
        drop(file);
        // And what was written behind the cut is read again.
        assert_eq!(JournalFile::read(&torn).unwrap().batches(), batches);
    }
    for length in 1..begins {
        fs::write(&torn, &bytes[..length]).unwrap();
        let cut_off = JournalFile::open(&torn, "about").err();
        assert!(matches!(cut_off, Some(JournalError::CutOff)), "{length}");
        assert_eq!(fs::read(&torn).unwrap(), &bytes[..length]);
    }
}

#[test]
fn a_record_that_was_changed_is_an_error_with_its_place() {
    let folder = Folder::new();
    let whole = folder.file("whole");
    {
        let file = JournalFile::open(&whole, "about").unwrap();
        explored(&SOUND, None, Some(&file.check(NAME)));
    }
    let bytes = fs::read(&whole).unwrap();
    let changed = folder.file("changed");
    for place in (17..bytes.len() - 1).step_by(211) {
        let mut bytes = bytes.clone();
        bytes[place] ^= 0x10;
        fs::write(&changed, &bytes).unwrap();
        match JournalFile::open(&changed, "about").err() {
            Some(JournalError::Damaged(at)) => assert!(at <= place as u64, "{at} > {place}"),
            other => panic!("byte {place}: {other:?}"),
        }
        // It is left as it is.
        assert_eq!(fs::read(&changed).unwrap(), bytes);
    }
}

#[test]
fn what_is_no_journal_is_left_as_it_is() {
    let folder = Folder::new();
    let path = folder.file("other");
    for content in ["name = 'scenario'\n", "runkey.journal/2\nabout", "\0\0\0\0"] {
        fs::write(&path, content).unwrap();
        let refused = JournalFile::open(&path, "about").err();
        assert!(
            matches!(refused, Some(JournalError::NoJournal)),
            "{content}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    let missing = JournalFile::read(&folder.file("missing")).err();
    assert!(matches!(missing, Some(JournalError::Unreadable(_))));
}

#[test]
fn two_do_not_write_to_one_journal() {
    let folder = Folder::new();
    let path = folder.file("one");
    let first = JournalFile::open(&path, "about").unwrap();
    assert!(matches!(
        JournalFile::open(&path, "about").err(),
        Some(JournalError::InUse)
    ));
    drop(first);
    assert_eq!(
        JournalFile::open(&path, "another").unwrap().about(),
        "about"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_at_once() {
    let full = JournalFile::open("/dev/full".as_ref(), "about").err();
    assert!(
        matches!(full, Some(JournalError::Unwritable(_))),
        "{full:?}"
    );
}
