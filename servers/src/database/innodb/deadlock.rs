//! Circles of waiting: found when a wait begins, ended by rolling back who has done least.

use super::Store;
use super::transaction::TrxId;
use crate::broken::{self, Broken};

impl Store {
    /// The victim, if the transaction that has begun to wait has closed a circle. Each waiting
    /// transaction has one arrow, to the first that is in its way (`Deadlock::report`).
    pub(super) fn victim(&self, trx: TrxId) -> Option<TrxId> {
        let circle = self.circle(trx)?;
        let mut victim: Option<(usize, TrxId)> = None;
        for member in circle {
            let weight = self.weight(member);
            let lighter = match victim {
                None => true,
                Some((least, _)) if broken::is(Broken::MariaHeaviestIsVictim) => weight > least,
                // On a tie whoever closed the circle goes.
                Some((least, _)) => weight < least || (weight == least && member == trx),
            };
            if lighter {
                victim = Some((weight, member));
            }
        }
        victim.map(|(_, victim)| victim)
    }

    /// How much a transaction has done: rows changed and locks taken (`TRX_WEIGHT`).
    pub(super) fn weight(&self, trx: TrxId) -> usize {
        let changes = self.trxs.get(&trx).map_or(0, |trx| trx.changes());
        changes + self.locks.count(trx)
    }

    /// The circle that can be reached from a transaction, from behind the member where it is
    /// entered on.
    fn circle(&self, trx: TrxId) -> Option<Vec<TrxId>> {
        let mut path = vec![trx];
        loop {
            let next = *self.locks.waits_for.get(path.last()?)?;
            if let Some(entry) = path.iter().position(|member| *member == next) {
                path.drain(..entry);
                // The members are looked at in the order of the arrows, the entry last.
                let behind = 1.min(path.len());
                path.rotate_left(behind);
                return Some(path);
            }
            path.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(arrows: &[(u64, u64)]) -> Store {
        let mut store = Store::default();
        for (from, to) in arrows {
            store.locks.waits_for.insert(TrxId(*from), TrxId(*to));
        }
        store
    }

    #[test]
    fn a_chain_is_no_circle() {
        assert_eq!(waiting(&[(1, 2), (2, 3)]).victim(TrxId(1)), None);
    }

    #[test]
    fn on_a_tie_whoever_closed_the_circle_goes() {
        assert_eq!(waiting(&[(1, 2), (2, 1)]).victim(TrxId(1)), Some(TrxId(1)));
        assert_eq!(waiting(&[(1, 2), (2, 1)]).victim(TrxId(2)), Some(TrxId(2)));
    }

    #[test]
    fn who_has_the_lighter_load_goes() {
        use super::super::compatibility::Mode;
        let mut store = waiting(&[(1, 2), (2, 1)]);
        store
            .locks
            .intend(TrxId(1), scheduler::ports::Table(0), Mode::Exclusive);
        assert_eq!(store.victim(TrxId(1)), Some(TrxId(2)));
    }

    #[test]
    fn a_circle_is_found_from_outside_of_it() {
        let victim = waiting(&[(1, 2), (2, 3), (3, 2)]).victim(TrxId(1));
        assert_eq!(victim, Some(TrxId(3)));
    }
}
