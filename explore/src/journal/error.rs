//! Why a journal cannot be used.

use std::io;
use thiserror::Error;

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// Nothing can be written to it, not even what it is of.
    #[error("it cannot be written: {0}")]
    Unwritable(io::Error),
    /// It is something else.
    #[error("it is no journal of runkey, or one of another version; it is left as it is")]
    NoJournal,
    /// It ends before it says what it is of.
    #[error("it ends before it says what it is of; delete it and begin anew")]
    CutOff,
    /// A record in the middle of it is not as it was written.
    #[error("it is damaged at byte {0}; delete it and begin anew")]
    Damaged(u64),
    /// Somebody else writes to it at this moment.
    #[error("another process is writing to it")]
    InUse,
}
