//! Taking a lock, and waiting for it.

use super::compatibility::{Mode, Span};
use super::locks::{Answer, Request};
use super::records::{Heap, IndexId, Key, SUPREMUM};
use super::transaction::TrxId;
use super::{Store, tell};
use crate::database::core::{Handle, wait};
use crate::database::session::SessionId;
use scheduler::ports::sql::{SqlError, WhenLocked};

/// The statement that asks.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) handle: Handle,
    pub(super) session: SessionId,
    pub(super) trx: TrxId,
}

/// A lock that is wanted.
#[derive(Clone, Debug)]
pub(super) struct Want {
    pub(super) index: IndexId,
    /// The record's key; `None`: the end of the index.
    pub(super) key: Option<Key>,
    pub(super) mode: Mode,
    pub(super) span: Span,
    /// Whether whoever changes the record asks: where nobody is in the way, nothing is written down.
    pub(super) implicit: bool,
    pub(super) when_locked: WhenLocked,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Got {
    /// It was there already.
    Had,
    /// It is there now.
    Fresh,
    /// It is there, after a wait: the record may have changed, or be gone.
    Waited,
    /// Somebody has it, and the statement passes over it.
    Skipped,
}

impl Store {
    /// The record that is to be locked. A record that has gone meanwhile counts as the end.
    fn heap_of(&self, want: &Want) -> Heap {
        want.key
            .as_ref()
            .and_then(|key| self.index(want.index).records.get(key))
            .map_or(SUPREMUM, |record| record.heap)
    }

    /// Asks for a lock without waiting.
    pub(super) fn try_lock(&mut self, trx: TrxId, want: &Want) -> (Request, Answer) {
        let mut request = Request {
            index: want.index,
            heap: self.heap_of(want),
            mode: want.mode,
            span: Span::Record,
        };
        // Whoever has the record and wants its gap too asks for the gap alone, which is never
        // waited for: so it does not fall behind somebody who waits for the record.
        request.span = match want.span {
            Span::NextKey if request.heap != SUPREMUM && self.locks.has(trx, request) => Span::Gap,
            span => span,
        };
        let answer = match self.own_by_writing(trx, want) {
            true => Answer::Had,
            false => self.locks.request(trx, request, want.implicit),
        };
        (request, answer)
    }

    /// Whether somebody is in the way of a lock; takes nothing.
    pub(super) fn is_in_the_way(&mut self, trx: TrxId, want: &Want) -> bool {
        let look = Want {
            implicit: true,
            ..want.clone()
        };
        matches!(self.try_lock(trx, &look).1, Answer::Conflict(_))
    }

    /// Whoever has changed a record holds it although no lock is written down. If somebody else
    /// asks, it is written down (`lock_rec_convert_impl_to_expl`); if it asks itself for the record
    /// it has it.
    fn own_by_writing(&mut self, trx: TrxId, want: &Want) -> bool {
        let key = want
            .key
            .as_ref()
            .filter(|_| want.span != Span::InsertIntention);
        let Some(record) = key.and_then(|key| self.index(want.index).records.get(key)) else {
            return false;
        };
        let (heap, writer) = (record.heap, record.last_writer());
        if !self.is_active(writer) {
            return self.is_taken_for_own(trx, want);
        }
        if writer == trx {
            return want.span == Span::Record;
        }
        let request = Request {
            index: want.index,
            heap,
            mode: Mode::Exclusive,
            span: Span::Record,
        };
        if !self.locks.has(writer, request) {
            self.locks.add(writer, request);
        }
        false
    }
}

impl Store {
    /// InnoDB does not look closely where a transaction asks for the entry of a row that it has
    /// changed itself: if somebody active may have changed the index, it takes the entry for one that
    /// the transaction has changed too.
    fn is_taken_for_own(&self, trx: TrxId, want: &Want) -> bool {
        let (Span::Record, Some(key), false) = (want.span, &want.key, want.index.is_clustered())
        else {
            return false;
        };
        let oldest = self.trxs.values().filter_map(|trx| trx.writes_as).min();
        let table = &self.tables[&want.index.table];
        let primary = table.primary_of(want.index.number, key);
        let row = table.indexes[0].records.get(&primary);
        oldest.is_some_and(|oldest| self.index(want.index).youngest_writer >= oldest)
            && row.is_some_and(|row| row.last_writer() == trx)
            && !want.implicit
    }
}

impl Asker {
    /// Whether innodb_snapshot_isolation forbids to lock the row: it has changed since the snapshot.
    pub(super) fn has_changed(&self, index: IndexId, key: &Key) -> bool {
        let core = self.handle.borrow();
        let record = core.innodb.index(index).records.get(key);
        record.is_some_and(|record| core.innodb.has_changed_since_snapshot(self.trx, record))
    }

    /// Takes a lock; waits for it where the statement waits.
    pub(super) async fn lock(&self, want: &Want) -> Result<Got, SqlError> {
        {
            let mut core = self.handle.borrow_mut();
            let store = &mut core.innodb;
            let (request, answer) = store.try_lock(self.trx, want);
            let other = match answer {
                Answer::Had => return Ok(Got::Had),
                Answer::Granted => return Ok(Got::Fresh),
                Answer::Conflict(other) => other,
            };
            match want.when_locked {
                WhenLocked::Skip => return Ok(Got::Skipped),
                WhenLocked::Fail => return Err(SqlError::LockNotAvailable),
                WhenLocked::Wait => {}
            }
            store.locks.enqueue(self.trx, request, other);
            let still = store.resolve(self.trx)?;
            if !still {
                store.woken.retain(|(session, _)| *session != self.session);
            }
            tell(&mut core);
            if !still {
                return Ok(Got::Waited);
            }
        }
        wait(&self.handle, self.session).await?;
        Ok(Got::Waited)
    }
}

impl Store {
    /// Ends the circles that a new wait has closed. Gives whether there is still something to wait
    /// for; the error if the victim is who waits.
    fn resolve(&mut self, trx: TrxId) -> Result<bool, SqlError> {
        while let Some(victim) = self.victim(trx) {
            if victim == trx {
                self.locks.cancel(trx);
                self.settle();
                return Err(SqlError::Deadlock);
            }
            self.kill(victim);
        }
        Ok(self.locks.waiting_of(trx).is_some())
    }
}
