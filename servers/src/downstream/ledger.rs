//! A transactional effect: it is made in the database that also knows whether it was made.
//!
//! The key and the effect are written in one transaction, so that both are there or neither is. An
//! unknown outcome is an unknown commit: reading the key again tells.

use std::collections::BTreeMap;

/// Effects by their key, as the database has them.
#[derive(Clone, Debug, Default)]
pub struct Ledger<K, E> {
    made: BTreeMap<K, E>,
}

/// An effect in a transaction that is not committed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an effect that is not committed was never made"]
pub struct Staged<K, E> {
    key: K,
    effect: E,
}

impl<K: Ord, E> Ledger<K, E> {
    /// An empty one.
    pub const fn new() -> Self {
        Ledger {
            made: BTreeMap::new(),
        }
    }

    /// Writes key and effect in a transaction; `None` where the key is there.
    pub fn stage(&self, key: K, effect: E) -> Option<Staged<K, E>> {
        (!self.made.contains_key(&key)).then_some(Staged { key, effect })
    }

    /// Commits; false where another transaction with this key was committed since: the unique key
    /// refuses it, and nothing is written.
    pub fn commit(&mut self, staged: Staged<K, E>) -> bool {
        match self.made.entry(staged.key) {
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(staged.effect);
                true
            }
            std::collections::btree_map::Entry::Occupied(_) => false,
        }
    }

    /// The effect with this key.
    pub fn get(&self, key: &K) -> Option<&E> {
        self.made.get(key)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn two_transactions_with_one_key_make_one_effect() {
        let mut ledger = Ledger::new();
        let first = ledger.stage("k", 1).unwrap();
        let second = ledger.stage("k", 2).unwrap();
        assert_eq!(ledger.get(&"k"), None, "nobody sees what is not committed");
        assert!(ledger.commit(second));
        assert!(!ledger.commit(first));
        assert_eq!(ledger.get(&"k"), Some(&2));
        assert_eq!(ledger.stage("k", 3), None);
    }

    #[test]
    fn a_transaction_that_is_dropped_leaves_nothing() {
        let ledger = Ledger::new();
        assert!(ledger.stage("k", 1).is_some());
        assert_eq!(ledger.get(&"k"), None);
    }

    proptest::proptest! {
        /// Whatever is staged, committed in another order, or dropped.
        #[test]
        fn what_is_committed_stays_as_it_was(
            steps in proptest::collection::vec((0_u8..4, 0_usize..4, proptest::bool::ANY), 1..60)
        ) {
            let mut ledger = Ledger::new();
            let mut open = Vec::new();
            let mut made: Vec<(u8, usize)> = Vec::new();
            for (number, (key, place, commits)) in steps.into_iter().enumerate() {
                open.extend(ledger.stage(key, number));
                if commits && !open.is_empty() {
                    let staged = open.remove(place % open.len());
                    let (key, effect) = (staged.key, staged.effect);
                    if ledger.commit(staged) {
                        made.push((key, effect));
                    }
                }
                for (key, effect) in &made {
                    proptest::prop_assert_eq!(ledger.get(key), Some(effect));
                }
                let keys = made.iter().filter(|(made, _)| *made == key).count();
                proptest::prop_assert!(keys <= 1);
            }
        }
    }
}
