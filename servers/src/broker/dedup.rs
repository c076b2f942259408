//! What a broker remembers of publishes.

use crate::Ms;
use crate::broken::broken;
use std::collections::VecDeque;

/// The ids of the last while, oldest first.
#[derive(Clone, Debug)]
pub struct Dedup<K> {
    seen: VecDeque<Seen<K>>,
}

#[derive(Clone, Debug)]
struct Seen<K> {
    id: K,
    /// In which partition, where that matters.
    scope: u32,
    /// The message that stands for it.
    message: u32,
    at: Ms,
}

impl<K> Default for Dedup<K> {
    fn default() -> Self {
        Dedup {
            seen: VecDeque::new(),
        }
    }
}

impl<K: PartialEq> Dedup<K> {
    /// Forgets what is older than the window.
    pub fn forget(&mut self, now: Ms, window: Ms) {
        while self
            .seen
            .front()
            .is_some_and(|seen| now >= seen.at + window)
        {
            self.seen.pop_front();
        }
    }

    /// The message that stands for this id, if the id is remembered.
    pub fn find(&mut self, now: Ms, id: &K, scope: u32) -> Option<u32> {
        let place = self
            .seen
            .iter()
            .position(|seen| seen.id == *id && seen.scope == scope)?;
        // A duplicate does not make the window start anew.
        if broken!(WindowSlides)
            && let Some(mut seen) = self.seen.remove(place)
        {
            seen.at = now;
            let message = seen.message;
            self.seen.push_back(seen);
            return Some(message);
        }
        self.seen.get(place).map(|seen| seen.message)
    }

    /// Remembers an id.
    pub fn remember(&mut self, now: Ms, id: K, scope: u32, message: u32) {
        self.seen.push_back(Seen {
            id,
            scope,
            message,
            at: now,
        });
    }

    /// Forgets the ids of messages that are gone with them.
    pub fn forget_messages(&mut self, gone: impl Fn(u32) -> bool) {
        self.seen.retain(|seen| !gone(seen.message));
    }

    /// Nothing is remembered.
    pub fn clear(&mut self) {
        self.seen.clear();
    }

    /// The ids that still count, with when each was accepted.
    pub fn remembered(&self, now: Ms, window: Ms) -> impl Iterator<Item = (&K, Ms)> {
        let live = self.seen.iter().filter(move |seen| now < seen.at + window);
        live.map(|seen| (&seen.id, seen.at))
    }
}
