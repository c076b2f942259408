//! Panics: those of handlers end their attempt in silence, those of runkey end the command with
//! one sentence.
//!
//! The simulator catches what user code throws, but the hook that prints a panic runs before
//! anybody catches it. So the hook prints nothing and only remembers; a panic that nobody caught
//! arrives at [`caught`] and is told there.

use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

/// What was said by the last panic of the process, and where.
static LAST: Mutex<Option<Panic>> = Mutex::new(None);

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    message: String,
    place: String,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this is a defect of runkey, please report it: {} ({})",
            self.message, self.place
        )
    }
}

/// From now on a panic prints nothing by itself.
pub fn quiet() {
    panic::set_hook(Box::new(|info| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Panic::of(info));
    }));
}

/// Runs `work` and gives its panic, if it has one.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        last().unwrap_or_else(|| Panic {
            message: "a panic without a message".to_owned(),
            place: "unknown place".to_owned(),
        })
    })
}

/// The last panic since [`quiet`], whoever caught it.
pub fn last() -> Option<Panic> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Panic {
    fn of(info: &PanicHookInfo<'_>) -> Self {
        Panic {
            message: info
                .payload_as_str()
                .unwrap_or("a panic without a message")
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
            place: info
                .location()
                .map_or_else(|| "unknown place".to_owned(), ToString::to_string),
        }
    }
}
