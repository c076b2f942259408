//! Records of a file that is only ever appended to.
//!
//! ```text
//! length u32 | check u32 | hash u64 | bytes
//! ```
//!
//! The hash is of the bytes, the check of length and hash: a record that was changed is told from
//! one that was cut off by the end of the process. What was cut off is dropped; it is the last one.

use std::io::{self, Read};
use xxhash_rust::xxh3::xxh3_64;

/// Length, check and hash.
const HEAD: usize = 16;

/// The longest record: of a batch in which everything failed in another way. More is damage.
const LONGEST: u32 = 64 << 20;

/// A record, ready to be written in one piece.
pub(super) fn framed(bytes: &[u8]) -> Vec<u8> {
    // A longer record than can be read is never made; see `LONGEST`.
    let length = (bytes.len() as u32).to_le_bytes();
    let hash = xxh3_64(bytes).to_le_bytes();
    let mut record = Vec::with_capacity(HEAD + bytes.len());
    record.extend_from_slice(&length);
    record.extend_from_slice(&check(length, hash));
    record.extend_from_slice(&hash);
    record.extend_from_slice(bytes);
    record
}

fn check(length: [u8; 4], hash: [u8; 8]) -> [u8; 4] {
    let mut both = [0; 12];
    both[..4].copy_from_slice(&length);
    both[4..].copy_from_slice(&hash);
    (xxh3_64(&both) as u32).to_le_bytes()
}

/// What comes next in a file.
pub(super) enum Next {
    /// A record: its bytes.
    Record(Vec<u8>),
    /// The end of the file.
    End,
    /// The beginning of a record that was never finished.
    Torn,
    /// Something that was never written so.
    Damaged,
}

/// Reads records one by one.
pub(super) struct Records<R> {
    from: R,
    /// Where the next record begins.
    pub offset: u64,
}

impl<R: Read> Records<R> {
    /// `offset`: where `from` stands in its file.
    pub const fn new(from: R, offset: u64) -> Self {
        Records { from, offset }
    }

    pub fn next(&mut self) -> io::Result<Next> {
        let mut head = Vec::new();
        self.from
            .by_ref()
            .take(HEAD as u64)
            .read_to_end(&mut head)?;
        let Ok(head) = <[u8; HEAD]>::try_from(head.as_slice()) else {
            return Ok(if head.is_empty() {
                Next::End
            } else {
                Next::Torn
            });
        };
        let [a, b, c, d, e, f, g, h, hash @ ..] = head;
        let (length, said) = ([a, b, c, d], [e, f, g, h]);
        let size = u32::from_le_bytes(length);
        if said != check(length, hash) || size > LONGEST {
            return Ok(Next::Damaged);
        }
        let mut bytes = Vec::new();
        self.from
            .by_ref()
            .take(size.into())
            .read_to_end(&mut bytes)?;
        if bytes.len() < size as usize {
            return Ok(Next::Torn);
        }
        if xxh3_64(&bytes).to_le_bytes() != hash {
            return Ok(Next::Damaged);
        }
        self.offset += HEAD as u64 + u64::from(size);
        Ok(Next::Record(bytes))
    }
}

/// Where the bytes of a record stand that begins here.
pub(super) const fn bytes_of(record: u64) -> u64 {
    record + HEAD as u64
}
