//! Keys with a value and a time to live, and what was there before each change.

use super::Key;
use crate::Ms;
use crate::broken::{self, Broken};
use std::collections::{BTreeMap, VecDeque};

/// On what a SET depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Only {
    /// On nothing.
    #[default]
    Always,
    /// NX: the key is not set.
    IfAbsent,
    /// XX: the key is set, by whomever.
    IfPresent,
}

/// How long a key lives after a SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Lives {
    /// For ever, whatever was before: a plain SET drops the time to live.
    #[default]
    Forever,
    /// Until this moment; one that is not in the future ends the key at once.
    Until(Ms),
    /// KEEPTTL: as long as before.
    AsBefore,
}

/// A key that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry<V> {
    value: V,
    /// `None`: never.
    ends: Option<Ms>,
}

/// A change, and what was there before it.
#[derive(Clone, Debug)]
struct Change<V> {
    at: Ms,
    key: Key,
    before: Option<Entry<V>>,
}

/// Keys, each with its value and the moment at which it ends.
///
/// A key is gone at its end. (Redis compares its clock with `>`, so that a key lives up to 1 ms
/// longer; a driver that counts whole milliseconds cannot tell.)
#[derive(Clone, Debug)]
pub struct Keys<V> {
    set: BTreeMap<Key, Entry<V>>,
    /// The latest changes, newest last.
    past: VecDeque<Change<V>>,
    /// For how long a change is remembered.
    remembered: Ms,
    /// How many changes were forgotten.
    forgotten: usize,
}

impl<V> Default for Keys<V> {
    fn default() -> Self {
        Keys {
            set: BTreeMap::new(),
            past: VecDeque::new(),
            remembered: 0,
            forgotten: 0,
        }
    }
}

impl<V: Clone + PartialEq> Keys<V> {
    /// From now on changes can be undone for so long. 0, as it is at first: nothing is kept.
    pub fn remember(&mut self, length: Ms) {
        self.remembered = length;
    }

    /// The value of a key.
    pub fn get(&self, now: Ms, key: &str) -> Option<&V> {
        self.entry(now, key).map(|entry| &entry.value)
    }

    /// When a key ends: `None` where it is not set, `Some(None)` where it has no end.
    pub fn ends(&self, now: Ms, key: &str) -> Option<Option<Ms>> {
        self.entry(now, key).map(|entry| entry.ends)
    }

    /// SET: whether it was done.
    pub fn set(&mut self, now: Ms, key: &Key, value: V, only: Only, lives: Lives) -> bool {
        let before = if broken::is(Broken::LockOutlivesItsTime) {
            self.set.get(key)
        } else {
            self.entry(now, key)
        };
        let allowed = match only {
            Only::Always => true,
            Only::IfAbsent => before.is_none() || broken::is(Broken::LockIgnoresNx),
            Only::IfPresent => before.is_some(),
        };
        if !allowed {
            return false;
        }
        let ends = match lives {
            Lives::Forever => None,
            Lives::Until(end) if end <= now && broken::is(Broken::LockPastEndIsNoEnd) => None,
            Lives::Until(end) => Some(end),
            Lives::AsBefore if broken::is(Broken::LockKeepTtlDrops) => None,
            Lives::AsBefore => before.and_then(|entry| entry.ends),
        };
        let over = ends.is_some_and(|end| end <= now);
        self.put(now, key, (!over).then_some(Entry { value, ends }));
        true
    }

    /// PEXPIREAT, or PERSIST with `None`: whether the key was set. An end that is not in the future
    /// ends the key at once.
    pub fn expire(&mut self, now: Ms, key: &Key, ends: Option<Ms>) -> bool {
        let Some(entry) = self.entry(now, key) else {
            return false;
        };
        if !broken::is(Broken::LockRenewalDoesNothing) {
            let value = entry.value.clone();
            let over = ends.is_some_and(|end| end <= now);
            self.put(now, key, (!over).then_some(Entry { value, ends }));
        }
        true
    }

    /// DEL: whether the key was set.
    pub fn delete(&mut self, now: Ms, key: &Key) -> bool {
        let there = self.entry(now, key).is_some();
        if there {
            self.put(now, key, None);
        }
        there
    }

    /// Whether the key has this value.
    pub fn holds(&self, now: Ms, key: &str, value: &V) -> bool {
        let held = self.get(now, key);
        held == Some(value) || (held.is_some() && broken::is(Broken::LockComparesNothing))
    }

    /// The script that releases a lock by its owner only: whether it was done.
    pub fn delete_if(&mut self, now: Ms, key: &Key, owner: &V) -> bool {
        self.holds(now, key, owner) && self.delete(now, key)
    }

    /// The script that renews a lock by its owner only: whether it was done.
    pub fn expire_if(&mut self, now: Ms, key: &Key, owner: &V, ends: Ms) -> bool {
        self.holds(now, key, owner) && self.expire(now, key, Some(ends))
    }

    /// FLUSHALL, or an eviction of everything.
    pub fn flush(&mut self, now: Ms) {
        if broken::is(Broken::LockFlushKeeps) {
            return;
        }
        while let Some((key, entry)) = self.set.pop_first() {
            self.note(now, key, Some(entry));
        }
    }

    /// The keys that are set, in order, each with its value and its end.
    pub fn held(&self, now: Ms) -> impl Iterator<Item = (&Key, &V, Option<Ms>)> {
        self.set
            .iter()
            .filter(move |(_, entry)| entry.is_alive(now))
            .map(|(key, entry)| (key, &entry.value, entry.ends))
    }

    /// The changes that can be undone now, oldest first: when, which key, and what was there.
    pub fn past(&self, now: Ms) -> impl Iterator<Item = (Ms, &Key, Option<(&V, Option<Ms>)>)> {
        let oldest = now.saturating_sub(self.remembered);
        self.past
            .iter()
            .filter(move |change| change.at >= oldest)
            .map(|change| {
                let before = change.before.as_ref();
                let before = before.map(|entry| (&entry.value, entry.ends));
                (change.at, &change.key, before)
            })
    }

    /// Everything is forgotten, also that it ever was.
    pub fn forget(&mut self) {
        self.set.clear();
        self.past.clear();
        self.forgotten = 0;
    }

    /// Changes after this moment were never made, as far as they are remembered.
    pub fn undo_since(&mut self, moment: Ms) {
        while let Some(change) = self.past.pop_back_if(|change| change.at > moment) {
            match change.before {
                Some(entry) => self.set.insert(change.key, entry),
                None => self.set.remove(&change.key),
            };
        }
    }

    /// How many changes there were so far: see [`Keys::changed_since`].
    pub fn changes(&self) -> usize {
        self.forgotten + self.past.len()
    }

    /// Whether a key was changed after so many changes.
    pub fn changed_since(&self, changes: usize, key: &str) -> bool {
        let seen = changes.saturating_sub(self.forgotten);
        self.past
            .iter()
            .skip(seen)
            .any(|change| &*change.key == key)
    }

    fn entry(&self, now: Ms, key: &str) -> Option<&Entry<V>> {
        self.set.get(key).filter(|entry| entry.is_alive(now))
    }

    /// The one place at which a key changes.
    fn put(&mut self, now: Ms, key: &Key, entry: Option<Entry<V>>) {
        let before = match entry {
            Some(entry) => self.set.insert(key.clone(), entry),
            None => self.set.remove(key),
        };
        self.note(now, key.clone(), before);
    }

    fn note(&mut self, now: Ms, key: Key, before: Option<Entry<V>>) {
        if self.remembered == 0 {
            return;
        }
        let oldest = now.saturating_sub(self.remembered);
        while self
            .past
            .pop_front_if(|change| change.at < oldest)
            .is_some()
        {
            self.forgotten += 1;
        }
        self.past.push_back(Change {
            at: now,
            key,
            before,
        });
    }
}

impl<V> Entry<V> {
    fn is_alive(&self, now: Ms) -> bool {
        self.ends.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(keys: &mut Keys<u64>, now: Ms, value: u64, only: Only, lives: Lives) -> bool {
        keys.set(now, &Key::from("k"), value, only, lives)
    }

    #[test]
    fn a_key_is_free_again_exactly_at_the_end_of_its_ttl() {
        let mut keys = Keys::default();
        assert!(set(&mut keys, 0, 1, Only::IfAbsent, Lives::Until(20)));
        assert!(!set(&mut keys, 19, 2, Only::IfAbsent, Lives::Until(40)));
        assert!(set(&mut keys, 20, 2, Only::IfAbsent, Lives::Until(40)));
        assert_eq!(keys.get(39, "k"), Some(&2));
        assert_eq!(keys.get(40, "k"), None);
    }

    #[test]
    fn a_blind_delete_takes_the_next_owners_lock_and_a_checked_one_does_not() {
        let (mut keys, key) = (Keys::default(), Key::from("k"));
        assert!(set(&mut keys, 0, 1, Only::IfAbsent, Lives::Until(20)));
        assert!(set(&mut keys, 20, 2, Only::IfAbsent, Lives::Until(40)));
        assert!(!keys.delete_if(21, &key, &1));
        assert!(keys.delete(21, &key));
        assert!(set(&mut keys, 22, 3, Only::IfAbsent, Lives::Until(42)));
    }

    #[test]
    fn a_renewal_by_xx_steals_and_one_by_compare_does_not() {
        let (mut keys, key) = (Keys::default(), Key::from("k"));
        assert!(set(&mut keys, 0, 2, Only::IfAbsent, Lives::Until(20)));
        assert!(!keys.expire_if(10, &key, &1, 30));
        assert!(set(&mut keys, 10, 1, Only::IfPresent, Lives::Until(30)));
        assert_eq!(keys.get(29, "k"), Some(&1));
        assert!(!set(&mut keys, 30, 1, Only::IfPresent, Lives::Until(50)));
    }

    #[test]
    fn a_plain_set_drops_the_ttl_and_keepttl_keeps_it() {
        let mut keys = Keys::default();
        assert!(set(&mut keys, 0, 1, Only::Always, Lives::Until(20)));
        assert!(set(&mut keys, 1, 2, Only::Always, Lives::AsBefore));
        assert_eq!(keys.ends(2, "k"), Some(Some(20)));
        assert!(set(&mut keys, 2, 3, Only::Always, Lives::Forever));
        assert_eq!(keys.ends(3, "k"), Some(None));
    }

    #[test]
    fn what_was_done_after_a_moment_can_be_undone_as_far_as_it_is_remembered() {
        let (mut keys, key) = (Keys::default(), Key::from("k"));
        keys.remember(100);
        assert!(set(&mut keys, 0, 1, Only::Always, Lives::Forever));
        assert!(set(&mut keys, 10, 2, Only::Always, Lives::Until(500)));
        assert!(keys.delete(20, &key));
        keys.undo_since(10);
        assert_eq!(keys.held(30).collect::<Vec<_>>(), [(&key, &2, Some(500))]);
        keys.undo_since(9);
        assert_eq!(keys.held(30).collect::<Vec<_>>(), [(&key, &1, None)]);
        // The first change is forgotten when the next is made more than 100 ms later.
        assert!(set(&mut keys, 101, 3, Only::Always, Lives::Forever));
        keys.undo_since(0);
        assert_eq!(keys.get(101, "k"), Some(&1));
    }

    #[test]
    fn nothing_is_remembered_unless_it_is_asked_for() {
        let mut keys = Keys::default();
        assert!(set(&mut keys, 5, 1, Only::Always, Lives::Forever));
        assert_eq!(keys.changes(), 0);
        keys.undo_since(0);
        assert_eq!(keys.get(5, "k"), Some(&1));
    }
}
