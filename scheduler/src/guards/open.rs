//! Transactions that stay open while the work of a visit goes on, in the memory of the process.

use super::Visit;
use crate::ports::Transaction;
use evidence::MessageId;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which visit: an owner's token may be the same for several.
type Name = (u64, Option<MessageId>, u32);

/// The open transactions. Each is here only between two calls, and only while its visit is at work.
#[derive(Default)]
pub(super) struct Open(Mutex<BTreeMap<Name, Box<dyn Transaction>>>);

impl Open {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Name, Box<dyn Transaction>>> {
        // Nothing panics while the map is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a transaction for later.
    pub(super) fn keep(&self, visit: &Visit<'_>, transaction: Box<dyn Transaction>) {
        self.all().insert(name(visit), transaction);
    }

    /// The visit's transaction, if it has not been lost.
    pub(super) fn take(&self, visit: &Visit<'_>) -> Option<Box<dyn Transaction>> {
        self.all().remove(&name(visit))
    }
}

fn name(visit: &Visit<'_>) -> Name {
    (visit.token, visit.ids.message, visit.ids.delivery)
}
