//! Who leads what, and who is next.

use scheduler::ports::{Epoch, SessionId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every election so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Elections(BTreeMap<Arc<str>, Election>);

/// Of one thing that is led.
#[derive(Clone, Debug, Default)]
struct Election {
    leader: Option<SessionId>,
    /// Of the leader, or of the last one.
    epoch: Epoch,
    /// Who asked and does not lead, the first first.
    line: Vec<SessionId>,
}

impl Elections {
    pub(super) fn campaign(&mut self, session: SessionId, election: &str) -> Option<Epoch> {
        if !self.0.contains_key(election) {
            self.0.insert(election.into(), Election::default());
        }
        let election = self.0.get_mut(election)?;
        if election.leader != Some(session) && !election.line.contains(&session) {
            election.line.push(session);
        }
        election.promote();
        (election.leader == Some(session)).then_some(election.epoch)
    }

    pub(super) fn leader(&self, election: &str) -> Option<(SessionId, Epoch)> {
        let election = self.0.get(election)?;
        Some((election.leader?, election.epoch))
    }

    /// Sessions that are over lead nothing, and the first in line comes next.
    pub(super) fn without(&mut self, over: impl Fn(SessionId) -> bool) {
        for election in self.0.values_mut() {
            election.leader = election.leader.filter(|leader| !over(*leader));
            election.line.retain(|session| !over(*session));
            election.promote();
        }
    }

    pub(super) fn all(
        &self,
    ) -> impl Iterator<Item = (&str, Option<SessionId>, Epoch, &[SessionId])> {
        let all = self.0.iter();
        all.map(|(name, one)| (&**name, one.leader, one.epoch, &one.line[..]))
    }
}

impl Election {
    /// Where nobody leads, the first in line does, under the next epoch.
    fn promote(&mut self) {
        if self.leader.is_none() && !self.line.is_empty() {
            self.leader = Some(self.line.remove(0));
            self.epoch.0 += 1;
        }
    }
}
