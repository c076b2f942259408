//! What owners of shards noted of their work, and who does it again when their session is over.

use scheduler::ports::{Failover, Item, SessionId};
use std::collections::BTreeMap;

/// The last run of each shard, and what is left behind.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    policy: Failover,
    last: BTreeMap<u32, Note>,
    /// By shard: what waits for its next owner, the oldest first.
    left: BTreeMap<u32, Vec<Item>>,
}

#[derive(Clone, Debug)]
struct Note {
    session: SessionId,
    item: Item,
    done: bool,
}

impl Notes {
    pub(super) fn new(policy: Failover) -> Self {
        Notes {
            policy,
            ..Notes::default()
        }
    }

    pub(super) fn begin(&mut self, session: SessionId, item: Item) {
        let note = Note {
            session,
            item,
            done: false,
        };
        self.last.insert(note.item.shard, note);
    }

    pub(super) fn finish(&mut self, session: SessionId, shard: u32) {
        if let Some(note) = self.last.get_mut(&shard)
            && note.session == session
        {
            note.done = true;
        }
    }

    /// Notes of sessions that are over are left to the next owner, as the policy has it.
    pub(super) fn without(&mut self, over: impl Fn(SessionId) -> bool) {
        let policy = self.policy;
        for (shard, note) in self.last.extract_if(.., |_, note| over(note.session)) {
            let again = match policy {
                Failover::Off => false,
                Failover::IfRunning => !note.done,
                Failover::OnLeave => true,
            };
            if again {
                self.left.entry(shard).or_default().push(note.item);
            }
        }
    }

    /// Whether something waits for the owner of these shards.
    pub(super) fn waits(&self, mut shards: impl Iterator<Item = u32>) -> bool {
        shards.any(|shard| self.left.contains_key(&shard))
    }

    /// Takes what waits for the owner of these shards, begun by it with that.
    pub(super) fn take_over(
        &mut self,
        session: SessionId,
        shards: impl Iterator<Item = u32>,
    ) -> Vec<Item> {
        let mut taken = Vec::new();
        for shard in shards {
            let left = self.left.remove(&shard).unwrap_or_default();
            for item in &left {
                self.begin(session, item.clone());
            }
            taken.extend(left);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Coordinator, Expired, Profile};
    use super::*;
    use evidence::{SlotTag, TraceId};

    fn item(shard: u32) -> Item {
        Item {
            shard,
            run: "report/0@2026-01-01T02:00:00.000Z".parse().unwrap(),
            trace: TraceId(7),
            slot: SlotTag::default(),
        }
    }

    /// What the next owner is left, of one run that was at work and one that was done.
    fn left(policy: Failover) -> Vec<u32> {
        let mut coordinator = Coordinator::new(Profile::ZOOKEEPER, 2).failing_over(policy);
        let first = coordinator.join(0, 'a');
        for shard in [0, 1] {
            coordinator.begin(0, first, item(shard)).unwrap();
        }
        coordinator.finish(0, first, 1).unwrap();
        coordinator.leave(1, first);
        let second = coordinator.join(2, 'b');
        let taken = coordinator.take_over(2, second).unwrap();
        assert!(!coordinator.is_owed(second), "it is taken over once");
        taken.iter().map(|item| item.shard).collect()
    }

    #[test]
    fn the_policy_says_what_the_next_owner_does_again() {
        assert_eq!(left(Failover::Off), [0; 0]);
        assert_eq!(left(Failover::IfRunning), [0]);
        assert_eq!(left(Failover::OnLeave), [0, 1]);
    }

    #[test]
    fn what_is_taken_over_is_left_again_by_the_one_who_took_it() {
        let policy = Failover::IfRunning;
        let mut coordinator = Coordinator::new(Profile::ZOOKEEPER, 1).failing_over(policy);
        let first = coordinator.join(0, 'a');
        coordinator.begin(0, first, item(0)).unwrap();
        coordinator.leave(1, first);
        let second = coordinator.join(2, 'b');
        assert_eq!(coordinator.take_over(2, second), Ok(vec![item(0)]));
        coordinator.leave(3, second);
        let third = coordinator.join(4, 'c');
        assert!(coordinator.is_owed(third));
        assert_eq!(coordinator.finish(4, first, 0), Err(Expired));
        assert_eq!(coordinator.take_over(4, third), Ok(vec![item(0)]));
    }

    #[test]
    fn beats_that_are_made_up_for_end_nothing_and_open_nothing() {
        let mut coordinator = Coordinator::new(Profile::KUBERNETES, 0);
        let (kept, silent) = (coordinator.join(0, 'a'), coordinator.join(0, 'b'));
        coordinator.heard(14_000, kept);
        assert_eq!(coordinator.ends(silent), Some(15_000));
        coordinator.pass(15_000);
        coordinator.heard(14_999, silent);
        assert_eq!(coordinator.ends(silent), None);
        assert_eq!(coordinator.ends(kept), Some(29_000));
    }
}
