//! Finished batches in a file: to go on after an end that came too early, and to put together what
//! several machines did.
//!
//! ```text
//! runkey.journal/1             one line, for people
//! about                        what it is of: a text that only its writer understands
//! batch | ended | batch ...    appended as they are finished
//! ```
//!
//! A batch is in the file before anything else is done on its thread, so that whatever ends the
//! process loses the plans in flight and nothing else. A record that was cut off is dropped and the
//! file goes on before it; one that was changed is an error. Where a record cannot be written, no
//! other is: the exploration goes on without, and [`JournalFile::trouble`] says why.

mod error;
mod record;

pub use error::JournalError;

use crate::packed::{Packed, packed, packed_fields, unpacked};
use crate::{Journal, LevelName, Part};
use record::{Next, Records, bytes_of, framed};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// The first line.
const TITLE: &[u8] = b"runkey.journal/1\n";

/// Which batch: of which check in the file, of which walk, by the hash of what its plans have in
/// common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    check: u64,
    level: LevelName,
    batch: u64,
}

packed_fields!(Key {
    check,
    level,
    batch
});

/// A record behind the first.
enum Entry {
    Batch(Key),
    Ended { check: u64 },
}

const BATCH: u8 = 0;
const ENDED: u8 = 1;

impl Entry {
    /// What a record is; of a batch the rest of the bytes is its part.
    fn of(bytes: &mut &[u8]) -> Option<Entry> {
        match u8::get(bytes)? {
            BATCH => Key::get(bytes).map(Entry::Batch),
            ENDED => u64::get(bytes).map(|check| Entry::Ended { check }),
            _ => None,
        }
    }
}

/// A journal on disk.
pub struct JournalFile {
    about: String,
    /// Where the bytes of each batch stand, and how many there are.
    batches: BTreeMap<Key, (u64, usize)>,
    /// Checks that were run to their end.
    ended: BTreeSet<u64>,
    writing: Mutex<Writing>,
}

struct Writing {
    file: File,
    /// Where the next record goes.
    end: u64,
    trouble: Option<io::Error>,
}

impl JournalFile {
    /// Goes on with the journal at `path`, or begins one that is about `about`.
    ///
    /// What an old one is about may be something else: that is for the caller to compare.
    ///
    /// # Errors
    /// See [`JournalError`].
    pub fn open(path: &Path, about: &str) -> Result<Self, JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(JournalError::Unreadable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse),
            // Some file systems have no locks; that is no reason to have no journal.
            Err(TryLockError::Error(_)) => {}
        }
        let is_new = file
            .metadata()
            .map_err(JournalError::Unreadable)
            .map(|data| data.len() == 0)?;
        if is_new {
            return Self::begin(file, about);
        }
        let journal = Self::read_from(file)?;
        {
            let writing = journal.writing();
            // What was cut off is written over.
            let end = writing.end;
            writing
                .file
                .set_len(end)
                .map_err(JournalError::Unwritable)?;
        }
        Ok(journal)
    }

    /// Reads a journal, without going on with it.
    ///
    /// # Errors
    /// See [`JournalError`].
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        Self::read_from(File::open(path).map_err(JournalError::Unreadable)?)
    }

    fn begin(mut file: File, about: &str) -> Result<Self, JournalError> {
        let mut bytes = TITLE.to_vec();
        bytes.extend(framed(about.as_bytes()));
        if let Err(error) = file.write_all(&bytes) {
            // Nothing of it may be taken for a journal.
            let _ = file.set_len(0);
            return Err(JournalError::Unwritable(error));
        }
        Ok(JournalFile {
            about: about.to_owned(),
            batches: BTreeMap::new(),
            ended: BTreeSet::new(),
            writing: Mutex::new(Writing {
                file,
                end: bytes.len() as u64,
                trouble: None,
            }),
        })
    }

    fn read_from(mut file: File) -> Result<Self, JournalError> {
        let mut from = BufReader::new(&mut file);
        let mut title = Vec::new();
        from.by_ref()
            .take(TITLE.len() as u64)
            .read_to_end(&mut title)
            .map_err(JournalError::Unreadable)?;
        if title != TITLE {
            return Err(match TITLE.starts_with(&title) {
                true => JournalError::CutOff,
                false => JournalError::NoJournal,
            });
        }
        let mut records = Records::new(from, TITLE.len() as u64);
        let about = match records.next().map_err(JournalError::Unreadable)? {
            Next::Record(bytes) => String::from_utf8(bytes).map_err(|_| JournalError::NoJournal)?,
            Next::End | Next::Torn => return Err(JournalError::CutOff),
            Next::Damaged => return Err(JournalError::Damaged(records.offset)),
        };
        let (mut batches, mut ended) = (BTreeMap::new(), BTreeSet::new());
        loop {
            let begins = records.offset;
            match records.next().map_err(JournalError::Unreadable)? {
                Next::Record(bytes) => {
                    let mut rest = bytes.as_slice();
                    match Entry::of(&mut rest).ok_or(JournalError::Damaged(begins))? {
                        Entry::Batch(key) => {
                            let head = (bytes.len() - rest.len()) as u64;
                            batches.insert(key, (bytes_of(begins) + head, rest.len()));
                        }
                        Entry::Ended { check } => {
                            ended.insert(check);
                        }
                    }
                }
                Next::End | Next::Torn => break,
                Next::Damaged => return Err(JournalError::Damaged(begins)),
            }
        }
        let end = records.offset;
        Ok(JournalFile {
            about,
            batches,
            ended,
            writing: Mutex::new(Writing {
                file,
                end,
                trouble: None,
            }),
        })
    }

    /// What it is about.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// How many batches it held when it was opened.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Whether the check of this name had been run to its end when the file was opened.
    pub fn has_ended(&self, name: &str) -> bool {
        self.ended.contains(&number_of(name))
    }

    /// The batches of one check of those in the file.
    pub fn check(&self, name: &str) -> Pages<'_> {
        Pages {
            file: self,
            check: number_of(name),
        }
    }

    /// The batches of one check in any of several files; what else is finished goes into none.
    pub fn check_in<'a>(files: &'a [JournalFile], name: &str) -> Together<'a> {
        Together {
            files,
            check: number_of(name),
        }
    }

    /// A check was run to its end.
    pub fn end(&self, name: &str) {
        let mut bytes = packed(&ENDED);
        number_of(name).put(&mut bytes);
        self.append(&bytes);
    }

    /// Why nothing is written any more, if that is so.
    pub fn trouble(&self) -> Option<String> {
        let writing = self.writing();
        writing.trouble.as_ref().map(ToString::to_string)
    }

    fn find(&self, key: Key) -> Option<Part> {
        let (offset, length) = *self.batches.get(&key)?;
        let mut bytes = vec![0; length];
        {
            let mut writing = self.writing();
            writing.file.seek(SeekFrom::Start(offset)).ok()?;
            writing.file.read_exact(&mut bytes).ok()?;
        }
        unpacked(&bytes)
    }

    fn append(&self, bytes: &[u8]) {
        let record = framed(bytes);
        let mut writing = self.writing();
        if writing.trouble.is_some() {
            return;
        }
        let end = writing.end;
        let written = writing
            .file
            .seek(SeekFrom::Start(end))
            .and_then(|_| writing.file.write_all(&record));
        match written {
            Ok(()) => writing.end += record.len() as u64,
            Err(error) => {
                // What is there of the record is dropped now, or when the file is opened again.
                let _ = writing.file.set_len(end);
                writing.trouble = Some(error);
            }
        }
    }

    /// A panic on another thread leaves the file as it was before a record, or with a torn one.
    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file may hold several checks.
fn number_of(check: &str) -> u64 {
    xxh3_64(check.as_bytes())
}

/// The batches of one check, kept in one file.
pub struct Pages<'a> {
    file: &'a JournalFile,
    check: u64,
}

/// The batches of one check, found in any of several files.
pub struct Together<'a> {
    files: &'a [JournalFile],
    check: u64,
}

impl Journal for Pages<'_> {
    fn finished(&self, level: LevelName, batch: u64) -> Option<Part> {
        let check = self.check;
        self.file.find(Key {
            check,
            level,
            batch,
        })
    }

    fn finish(&self, level: LevelName, batch: u64, part: &Part) {
        let key = Key {
            check: self.check,
            level,
            batch,
        };
        let mut bytes = packed(&BATCH);
        key.put(&mut bytes);
        part.put(&mut bytes);
        self.file.append(&bytes);
    }
}

impl Journal for Together<'_> {
    fn finished(&self, level: LevelName, batch: u64) -> Option<Part> {
        let check = self.check;
        let key = Key {
            check,
            level,
            batch,
        };
        self.files.iter().find_map(|file| file.find(key))
    }

    fn finish(&self, _: LevelName, _: u64, _: &Part) {}
}
