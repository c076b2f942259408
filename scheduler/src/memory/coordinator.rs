//! A coordinator in memory, whose sessions end only when they are left.

use super::lock;
use crate::ports::{
    At, CallError, Coordinator, Election, Epoch, Fut, Item, Monotonic, SessionId, Shard, Standing,
};
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Mutex;

/// Sessions, leaders and shards.
#[derive(Default)]
pub struct MemoryCoordinator {
    shards: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    opened: u64,
    /// Those that are open, in the order in which they joined.
    sessions: Vec<SessionId>,
    led: BTreeMap<Election, (SessionId, Epoch)>,
    /// By shard: whose it was last, and how many owners it had.
    owned: BTreeMap<u32, (SessionId, Epoch)>,
    /// By shard: the run at work, and under which session.
    at_work: BTreeMap<u32, (SessionId, Item)>,
}

impl MemoryCoordinator {
    /// Without a session; it deals out so many shards.
    pub fn new(shards: u32) -> Self {
        MemoryCoordinator {
            shards,
            state: Mutex::default(),
        }
    }

    /// Does something for a session, if it is open.
    fn with<T>(
        &self,
        session: SessionId,
        act: impl FnOnce(&mut State) -> T,
    ) -> Fut<'static, Result<Standing<T>, CallError>>
    where
        T: Send + 'static,
    {
        let mut state = lock(&self.state);
        let standing = if state.sessions.contains(&session) {
            Standing::Lives(act(&mut state))
        } else {
            Standing::Expired
        };
        Box::pin(ready(Ok(standing)))
    }
}

impl State {
    fn campaign(&mut self, session: SessionId, election: &Election) -> Option<Epoch> {
        let (leader, epoch) = self
            .led
            .get(election)
            .copied()
            .unwrap_or((session, Epoch(0)));
        let free = epoch == Epoch(0) || !self.sessions.contains(&leader);
        if !free {
            return (leader == session).then_some(epoch);
        }
        let next = Epoch(epoch.0 + 1);
        self.led.insert(election.clone(), (session, next));
        Some(next)
    }

    /// What sessions that are over had at work, of the shards of this one.
    fn take_over(&mut self, session: SessionId, count: u32) -> Vec<Item> {
        let mut taken = Vec::new();
        for shard in self.shards(session, count) {
            let left = self.at_work.get_mut(&shard.number);
            if let Some((owner, item)) = left
                && !self.sessions.contains(owner)
            {
                *owner = session;
                taken.push(item.clone());
            }
        }
        taken
    }

    /// Shards go round the open sessions.
    fn shards(&mut self, session: SessionId, count: u32) -> Vec<Shard> {
        let mut mine = Vec::new();
        for number in 0..count {
            let owner = self.sessions[number as usize % self.sessions.len()];
            let (before, epoch) = self.owned.entry(number).or_insert((owner, Epoch(1)));
            if *before != owner {
                (*before, epoch.0) = (owner, epoch.0 + 1);
            }
            if owner == session {
                let epoch = *epoch;
                mine.push(Shard { number, epoch });
            }
        }
        mine
    }
}

impl Coordinator for MemoryCoordinator {
    fn join<'a>(&'a self, _: At<'a>) -> Fut<'a, Result<SessionId, CallError>> {
        let mut state = lock(&self.state);
        state.opened += 1;
        let session = SessionId(state.opened);
        state.sessions.push(session);
        Box::pin(ready(Ok(session)))
    }

    fn beat<'a>(
        &'a self,
        _: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.with(session, |_| ())
    }

    fn campaign<'a>(
        &'a self,
        _: At<'a>,
        session: SessionId,
        election: &'a Election,
    ) -> Fut<'a, Result<Standing<Option<Epoch>>, CallError>> {
        self.with(session, |state| state.campaign(session, election))
    }

    fn shards<'a>(
        &'a self,
        _: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Shard>>, CallError>> {
        self.with(session, |state| state.shards(session, self.shards))
    }

    fn begin<'a>(
        &'a self,
        _: At<'a>,
        session: SessionId,
        item: &'a Item,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.with(session, |state| {
            state.at_work.insert(item.shard, (session, item.clone()));
        })
    }

    fn finish<'a>(
        &'a self,
        _: At<'a>,
        session: SessionId,
        shard: u32,
    ) -> Fut<'a, Result<Standing<()>, CallError>> {
        self.with(session, |state| {
            state.at_work.remove(&shard);
        })
    }

    fn take_over<'a>(
        &'a self,
        _: At<'a>,
        session: SessionId,
    ) -> Fut<'a, Result<Standing<Vec<Item>>, CallError>> {
        self.with(session, |state| state.take_over(session, self.shards))
    }

    /// It never loses touch.
    fn heard(&self, session: SessionId) -> Option<Monotonic> {
        let open = lock(&self.state).sessions.contains(&session);
        open.then_some(Monotonic(u64::MAX))
    }

    fn leave<'a>(&'a self, _: At<'a>, session: SessionId) -> Fut<'a, Result<(), CallError>> {
        let mut state = lock(&self.state);
        state.sessions.retain(|open| *open != session);
        Box::pin(ready(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::block_on;
    use super::*;
    use crate::steps::COORDINATOR_CAMPAIGN;

    #[test]
    fn one_leads_until_it_leaves_and_shards_go_round() {
        let (coordinator, nobody) = (MemoryCoordinator::new(3), evidence::Ids::default());
        let (at, election) = (At::new(&COORDINATOR_CAMPAIGN, &nobody), "report".into());
        let join = || block_on(coordinator.join(at)).unwrap();
        let ask = |session| block_on(coordinator.campaign(at, session, &election)).unwrap();
        let shards = |session| match block_on(coordinator.shards(at, session)).unwrap() {
            Standing::Lives(shards) => shards.iter().map(|s| (s.number, s.epoch.0)).collect(),
            Standing::Expired => vec![],
        };
        let (first, second) = (join(), join());
        assert_eq!(ask(first), Standing::Lives(Some(Epoch(1))));
        assert_eq!(ask(second), Standing::Lives(None));
        assert_eq!(
            (shards(first), shards(second)),
            (vec![(0, 1), (2, 1)], vec![(1, 1)])
        );
        block_on(coordinator.leave(at, first)).unwrap();
        assert_eq!(ask(first), Standing::Expired);
        assert_eq!(ask(second), Standing::Lives(Some(Epoch(2))));
        assert_eq!(shards(second), [(0, 2), (1, 1), (2, 2)]);
    }
}
