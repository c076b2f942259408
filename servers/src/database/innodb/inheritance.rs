//! What becomes of locks when a record comes or goes: a lock on a gap stays on the whole gap.

use super::compatibility::{Mode, Span};
use super::locks::{Locks, Request};
use super::records::{Heap, IndexId, SUPREMUM};
use super::transaction::TrxId;

/// A record was inserted into a gap: whoever had the gap before `successor` has both halves
/// (`lock_update_insert`).
pub(super) fn split_gap(locks: &mut Locks, index: IndexId, record: Heap, successor: Heap) {
    let heirs: Vec<(TrxId, Mode)> = locks
        .on(index, successor)
        .filter(|lock| {
            lock.span.covers_gap() || (successor == SUPREMUM && lock.span == Span::Record)
        })
        .map(|lock| (lock.trx, lock.mode))
        .collect();
    inherit(locks, heirs, index, record);
}

/// A record goes for good (`lock_update_delete`): whoever has a lock on it, or waits for one, has
/// the gap that is wider now. `inherits` says of which transactions and modes this is so: a lock
/// that READ COMMITTED took to change a row is not a lock on a gap. Gives the transactions that
/// waited for the record: they have to look again.
pub(super) fn join_gaps(
    locks: &mut Locks,
    index: IndexId,
    record: Heap,
    successor: Heap,
    inherits: impl Fn(TrxId, Mode) -> bool,
) -> Vec<TrxId> {
    let heirs: Vec<(TrxId, Mode)> = locks
        .on(index, record)
        .filter(|lock| lock.span != Span::InsertIntention && inherits(lock.trx, lock.mode))
        .map(|lock| (lock.trx, lock.mode))
        .collect();
    inherit(locks, heirs, index, successor);
    let mut released = Vec::new();
    for lock in &mut locks.all {
        if lock.is_on(index, record) {
            lock.heaps.remove(&record);
            if std::mem::take(&mut lock.waiting) {
                released.push(lock.trx);
            }
        }
    }
    for trx in &released {
        locks.waits_for.remove(trx);
    }
    released
}

fn inherit(locks: &mut Locks, heirs: Vec<(TrxId, Mode)>, index: IndexId, heap: Heap) {
    for (trx, mode) in heirs {
        let span = Span::Gap;
        locks.add(
            trx,
            Request {
                index,
                heap,
                mode,
                span,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::ports::Table;

    const INDEX: IndexId = IndexId::clustered(Table(0));
    const A: TrxId = TrxId(1);
    const B: TrxId = TrxId(2);

    fn request(heap: Heap, mode: Mode, span: Span) -> Request {
        Request {
            index: INDEX,
            heap,
            mode,
            span,
        }
    }

    #[test]
    fn both_halves_of_a_gap_stay_locked() {
        let mut locks = Locks::default();
        locks.add(A, request(SUPREMUM, Mode::Exclusive, Span::Gap));
        split_gap(&mut locks, INDEX, Heap(7), SUPREMUM);
        assert!(locks.on(INDEX, Heap(7)).any(|lock| lock.span == Span::Gap));
        assert!(locks.on(INDEX, SUPREMUM).next().is_some());
    }

    #[test]
    fn a_record_lock_is_not_a_lock_on_the_gap_before_it() {
        let mut locks = Locks::default();
        locks.add(A, request(Heap(9), Mode::Exclusive, Span::Record));
        split_gap(&mut locks, INDEX, Heap(7), Heap(9));
        assert!(locks.on(INDEX, Heap(7)).next().is_none());
    }

    #[test]
    fn who_waits_for_a_record_that_goes_has_its_gap_and_goes_on() {
        let mut locks = Locks::default();
        locks.add(A, request(Heap(7), Mode::Exclusive, Span::Record));
        locks.enqueue(B, request(Heap(7), Mode::Shared, Span::NextKey), A);
        let released = join_gaps(&mut locks, INDEX, Heap(7), SUPREMUM, |trx, _| trx == B);
        assert_eq!(released, [B]);
        let heirs: Vec<TrxId> = locks.on(INDEX, SUPREMUM).map(|lock| lock.trx).collect();
        assert_eq!(heirs, [B]);
    }
}
