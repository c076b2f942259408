//! Who has which shard: as evenly as can be, moving as few as can be.

use scheduler::ports::{Epoch, SessionId, Shard};

/// Every shard's owner.
#[derive(Clone, Debug)]
pub(super) struct Shards(Vec<Owned>);

#[derive(Clone, Copy, Debug, Default)]
struct Owned {
    owner: Option<SessionId>,
    epoch: Epoch,
}

impl Shards {
    pub(super) fn new(count: u32) -> Self {
        Shards(vec![Owned::default(); count as usize])
    }

    pub(super) fn of(&self, session: SessionId) -> Vec<Shard> {
        let numbered = (0..).zip(&self.0);
        numbered
            .filter(|(_, owned)| owned.owner == Some(session))
            .map(|(number, owned)| Shard {
                number,
                epoch: owned.epoch,
            })
            .collect()
    }

    pub(super) fn owners(&self) -> impl Iterator<Item = (Option<SessionId>, Epoch)> {
        self.0.iter().map(|owned| (owned.owner, owned.epoch))
    }

    /// Deals the shards to these sessions. Whoever has more than its share gives up the highest;
    /// what nobody has goes to whoever has least, the oldest session first.
    pub(super) fn deal(&mut self, sessions: impl Iterator<Item = SessionId>) {
        let mut has: Vec<(SessionId, usize)> = sessions.map(|session| (session, 0)).collect();
        let (shards, members) = (self.0.len(), has.len());
        if members == 0 {
            self.0.iter_mut().for_each(|owned| owned.owner = None);
            return;
        }
        // So many have one more than the others.
        let (share, mut larger) = (shards / members, shards % members);
        for owned in &mut self.0 {
            let owner = owned.owner;
            let place = has.iter_mut().find(|(session, _)| Some(*session) == owner);
            owned.owner = match place {
                Some((session, count)) if *count < share || (*count == share && larger > 0) => {
                    larger -= usize::from(*count == share);
                    *count += 1;
                    Some(*session)
                }
                _ => None,
            };
        }
        for owned in &mut self.0 {
            if owned.owner.is_none()
                && let Some((session, count)) = has.iter_mut().min_by_key(|(_, count)| *count)
            {
                *count += 1;
                owned.owner = Some(*session);
                owned.epoch.0 += 1;
            }
        }
    }
}
