//! Record locks: who has them, who waits for them, in the order in which they were asked for.
//!
//! As in InnoDB, the locks of one transaction of one kind on one index (the models' indexes have one
//! page) are one thing with a set of records; the number of these things is the lock part of a
//! transaction's weight when a deadlock is resolved.

use super::compatibility::{Mode, Span, has_to_wait, includes};
use super::records::{Heap, IndexId, SUPREMUM};
use super::transaction::TrxId;
use scheduler::ports::Table;
use std::collections::{BTreeMap, BTreeSet};

/// Locks of one kind.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    pub(super) trx: TrxId,
    pub(super) index: IndexId,
    pub(super) mode: Mode,
    pub(super) span: Span,
    pub(super) heaps: BTreeSet<Heap>,
    /// A request that waits is on one record.
    pub(super) waiting: bool,
}

impl Lock {
    pub(super) const fn kind(&self) -> (Mode, Span) {
        (self.mode, self.span)
    }

    pub(super) fn is_on(&self, index: IndexId, heap: Heap) -> bool {
        self.index == index && self.heaps.contains(&heap)
    }
}

/// A record (or the end of an index), and the lock that is wanted on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) index: IndexId,
    pub(super) heap: Heap,
    pub(super) mode: Mode,
    pub(super) span: Span,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The transaction had it.
    Had,
    /// It has it now.
    Granted,
    /// Somebody is in the way: the first of them.
    Conflict(TrxId),
}

/// All locks.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// In the order in which they were made, which is the order of every queue.
    pub(super) all: Vec<Lock>,
    /// Intention locks on tables. They never wait for one another; they have weight.
    tables: BTreeSet<(TrxId, Table, Mode)>,
    /// Whom a waiting transaction waits for: the first that is in its way.
    pub(super) waits_for: BTreeMap<TrxId, TrxId>,
}

impl Locks {
    /// Announces that rows of a table will be locked.
    pub(super) fn intend(&mut self, trx: TrxId, table: Table, mode: Mode) {
        if !self.tables.contains(&(trx, table, Mode::Exclusive)) {
            self.tables.insert((trx, table, mode));
        }
    }

    /// Asks for a lock. `implicit`: whoever changes a record need not write its lock down
    /// (`lock_rec_lock`).
    pub(super) fn request(&mut self, trx: TrxId, request: Request, implicit: bool) -> Answer {
        let Request { index, heap, .. } = request;
        let kind = (request.mode, request.span);
        let supremum = heap == SUPREMUM;
        // An insert asks whether the gap is free of others, whatever it has itself.
        if request.span != Span::InsertIntention && self.has(trx, request) {
            return Answer::Had;
        }
        let in_the_way = self
            .on(index, heap)
            .find(|lock| lock.trx != trx && has_to_wait(kind, lock.kind(), supremum))
            .map(|lock| lock.trx);
        if let Some(other) = in_the_way {
            return Answer::Conflict(other);
        }
        if !implicit && request.span != Span::InsertIntention {
            self.add(trx, request);
        }
        Answer::Granted
    }

    /// Whether a transaction has a lock, or one that is more.
    pub(super) fn has(&self, trx: TrxId, request: Request) -> bool {
        let kind = (request.mode, request.span);
        let supremum = request.heap == SUPREMUM;
        self.on(request.index, request.heap)
            .any(|lock| lock.trx == trx && !lock.waiting && includes(lock.kind(), kind, supremum))
    }

    /// Gives a lock without asking anybody.
    pub(super) fn add(&mut self, trx: TrxId, request: Request) {
        let Request {
            index, heap, mode, ..
        } = request;
        // At the end of an index there is no record: every lock there is on the gap.
        let span = match (heap, request.span) {
            (SUPREMUM, Span::Gap | Span::Record) => Span::NextKey,
            (_, span) => span,
        };
        let somebody_waits = self.on(index, heap).any(|lock| lock.waiting);
        let similar = self.all.iter_mut().find(|lock| {
            lock.trx == trx && lock.index == index && !lock.waiting && lock.kind() == (mode, span)
        });
        if let Some(lock) = similar.filter(|_| !somebody_waits) {
            lock.heaps.insert(heap);
            return;
        }
        self.push(trx, Request { span, ..request }, false);
    }

    /// Puts a request at the end of its queue.
    pub(super) fn enqueue(&mut self, trx: TrxId, request: Request, behind: TrxId) {
        self.push(trx, request, true);
        self.waits_for.insert(trx, behind);
    }

    fn push(&mut self, trx: TrxId, request: Request, waiting: bool) {
        self.all.push(Lock {
            trx,
            index: request.index,
            mode: request.mode,
            span: request.span,
            heaps: BTreeSet::from([request.heap]),
            waiting,
        });
    }

    /// The locks on a record, in the order of their queue.
    pub(super) fn on(&self, index: IndexId, heap: Heap) -> impl Iterator<Item = &Lock> {
        self.all.iter().filter(move |lock| lock.is_on(index, heap))
    }

    /// The place of a transaction's request that waits.
    pub(super) fn waiting_of(&self, trx: TrxId) -> Option<usize> {
        self.all
            .iter()
            .position(|lock| lock.trx == trx && lock.waiting)
    }

    /// Those that a waiting request waits for: whoever has, or waits ahead of it for, a lock that
    /// is in its way (what INNODB_LOCK_WAITS tells).
    pub(super) fn ahead_of(&self, place: usize) -> impl Iterator<Item = TrxId> {
        let request = &self.all[place];
        let heap = request.heaps.first().copied().unwrap_or(SUPREMUM);
        self.all[..place]
            .iter()
            .filter(move |lock| {
                lock.trx != request.trx
                    && lock.is_on(request.index, heap)
                    && has_to_wait(request.kind(), lock.kind(), heap == SUPREMUM)
            })
            .map(|lock| lock.trx)
    }

    /// Requests that need not wait any longer get what they wait for; the others learn whom they
    /// wait for now. Gives those that go on, and those whose obstacle is another than before.
    pub(super) fn grant(&mut self) -> (Vec<TrxId>, Vec<TrxId>) {
        let (mut granted, mut changed) = (Vec::new(), Vec::new());
        for place in 0..self.all.len() {
            if !self.all[place].waiting {
                continue;
            }
            let trx = self.all[place].trx;
            let next = self.ahead_of(place).next();
            match next {
                Some(other) => {
                    if self.waits_for.insert(trx, other) != Some(other) {
                        changed.push(trx);
                    }
                }
                None => {
                    self.all[place].waiting = false;
                    self.waits_for.remove(&trx);
                    granted.push(trx);
                }
            }
        }
        (granted, changed)
    }

    /// A transaction gives up the request that waits.
    pub(super) fn cancel(&mut self, trx: TrxId) {
        self.waits_for.remove(&trx);
        self.all.retain(|lock| lock.trx != trx || !lock.waiting);
    }

    /// A transaction no longer locks one record, where it has a lock of this mode on it.
    pub(super) fn unlock(&mut self, trx: TrxId, index: IndexId, heap: Heap, mode: Mode) {
        let held = self.all.iter_mut().find(|lock| {
            lock.trx == trx && lock.mode == mode && !lock.waiting && lock.is_on(index, heap)
        });
        if let Some(lock) = held {
            lock.heaps.remove(&heap);
        }
    }

    /// A transaction is over.
    pub(super) fn release(&mut self, trx: TrxId) {
        self.waits_for.remove(&trx);
        self.all.retain(|lock| lock.trx != trx);
        self.tables.retain(|(holder, ..)| *holder != trx);
    }

    /// How much a transaction holds: part of its weight.
    pub(super) fn count(&self, trx: TrxId) -> usize {
        let records = self.all.iter().filter(|lock| lock.trx == trx).count();
        let tables = self.tables.iter().filter(|(holder, ..)| *holder == trx);
        records + tables.count()
    }
}
