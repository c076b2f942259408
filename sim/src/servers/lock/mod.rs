//! The lock service: keys with an owner and a time to live, as Redis keeps them.

use crate::agenda::Ms;
use scheduler::ports::{LockKey, Token};
use std::collections::BTreeMap;

/// What a call asks of the lock service.
#[derive(Clone, Debug)]
pub(crate) enum LockRequest {
    /// SET key token NX [PX ttl].
    SetIfAbsent {
        key: LockKey,
        token: Token,
        ttl: Option<Ms>,
    },
    /// PEXPIRE, for this owner only where one is given.
    Expire {
        key: LockKey,
        owner: Option<Token>,
        ttl: Ms,
    },
    /// DEL, for this owner only where one is given.
    Delete { key: LockKey, owner: Option<Token> },
}

struct Held {
    token: Token,
    expires: Option<Ms>,
}

/// The keys that are set.
#[derive(Default)]
pub(crate) struct Locks {
    held: BTreeMap<LockKey, Held>,
}

impl Locks {
    /// No key is set.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
    }

    /// Does what the request says.
    pub(crate) fn handle(&mut self, now: Ms, request: LockRequest) -> bool {
        match request {
            LockRequest::SetIfAbsent { key, token, ttl } => {
                if self.get(now, &key).is_some() {
                    return false;
                }
                self.held.insert(
                    key,
                    Held {
                        token,
                        expires: ttl.map(|ttl| now + ttl),
                    },
                );
                true
            }
            LockRequest::Expire { key, owner, ttl } => match self.get(now, &key) {
                Some(held) if owner.is_none_or(|owner| owner == held.token) => {
                    held.expires = Some(now + ttl);
                    true
                }
                _ => false,
            },
            LockRequest::Delete { key, owner } => match self.get(now, &key) {
                Some(held) if owner.is_none_or(|owner| owner == held.token) => {
                    self.held.remove(&key);
                    true
                }
                _ => false,
            },
        }
    }

    /// The keys that are set, each with its owner and the end of its time.
    pub(crate) fn held(&self, now: Ms) -> impl Iterator<Item = (&LockKey, Token, Option<Ms>)> {
        self.held
            .iter()
            .filter(move |(_, held)| held.expires.is_none_or(|expires| now < expires))
            .map(|(key, held)| (key, held.token, held.expires))
    }

    /// The key, if it is set and its time is not over.
    fn get(&mut self, now: Ms, key: &LockKey) -> Option<&mut Held> {
        self.held
            .get_mut(key)
            .filter(|held| held.expires.is_none_or(|expires| now < expires))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(locks: &mut Locks, now: Ms, token: u64) -> bool {
        let (key, token) = (LockKey::from("k"), Token(token));
        locks.handle(
            now,
            LockRequest::SetIfAbsent {
                key,
                token,
                ttl: Some(20),
            },
        )
    }

    fn delete(locks: &mut Locks, now: Ms, owner: Option<u64>) -> bool {
        let (key, owner) = (LockKey::from("k"), owner.map(Token));
        locks.handle(now, LockRequest::Delete { key, owner })
    }

    #[test]
    fn a_key_is_free_again_exactly_at_the_end_of_its_ttl() {
        let mut locks = Locks::default();
        assert!(set(&mut locks, 0, 1));
        assert!(!set(&mut locks, 19, 2));
        assert!(set(&mut locks, 20, 2));
    }

    #[test]
    fn a_blind_delete_takes_the_next_owners_lock_and_a_checked_one_does_not() {
        let mut locks = Locks::default();
        assert!(set(&mut locks, 0, 1));
        assert!(set(&mut locks, 20, 2));
        assert!(!delete(&mut locks, 21, Some(1)));
        assert!(delete(&mut locks, 21, None));
        assert!(set(&mut locks, 22, 3));
    }
}
