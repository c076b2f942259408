//! Which version of a row a statement sees, and what stands in the way of changing it.

use super::super::session::SessionId;
use super::heap::{Cid, Claim, Heap, Mode, Tid, Version};
use super::xids::{Snapshot, Xid, Xids};

/// What whoever wants to change or lock a version finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing stands in the way.
    Free,
    /// Not there for this statement.
    Invisible,
    /// Changed or removed by this very statement.
    ChangedBySelf,
    /// Somebody who is still at work has a claim on it.
    Claimed,
    /// There is a newer version.
    Updated,
    /// It was removed.
    Deleted,
}

/// How a version stands without any snapshot, as the check of a unique index asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dirty {
    /// Not there, whatever happens.
    Dead,
    /// There.
    Live,
    /// There if this one commits.
    Arriving(Xid),
    /// Gone if this one commits.
    Leaving(Xid),
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) xids: &'a Xids,
    pub(super) session: SessionId,
}

impl View<'_> {
    fn own(&self, xid: Xid) -> bool {
        self.xids.is_own(xid, self.session)
    }

    /// Who has changed or removed it, unless that was undone.
    pub(super) fn updater(&self, version: &Version) -> Option<Xid> {
        version
            .claims
            .iter()
            .find(|claim| claim.writes && !self.xids.has_aborted(claim.xid))
            .map(|claim| claim.xid)
    }

    /// Whether the statement sees it.
    pub(super) fn sees(&self, snapshot: &Snapshot, cid: Cid, version: &Version) -> bool {
        if version.gone || !self.has_arrived(snapshot, cid, version) {
            return false;
        }
        match self.updater(version) {
            None => true,
            Some(xid) if self.own(xid) => version.cmax >= cid,
            Some(xid) => self.was_running(snapshot, xid) || !self.xids.has_committed(xid),
        }
    }

    fn has_arrived(&self, snapshot: &Snapshot, cid: Cid, version: &Version) -> bool {
        if self.own(version.xmin) {
            return version.cmin < cid;
        }
        !self.was_running(snapshot, version.xmin) && self.xids.has_committed(version.xmin)
    }

    fn was_running(&self, snapshot: &Snapshot, xid: Xid) -> bool {
        snapshot.was_running(self.xids.top(xid))
    }

    pub(super) fn dirty(&self, version: &Version) -> Dirty {
        if version.gone || self.xids.has_aborted(version.xmin) {
            return Dirty::Dead;
        }
        if self.xids.is_running(version.xmin) && !self.own(version.xmin) {
            return Dirty::Arriving(version.xmin);
        }
        match self.updater(version) {
            None => Dirty::Live,
            Some(xid) if !self.own(xid) && self.xids.is_running(xid) => Dirty::Leaving(xid),
            Some(_) => Dirty::Dead,
        }
    }

    /// What stands in the way of a change or a lock.
    pub(super) fn verdict(&self, cid: Cid, version: &Version) -> Verdict {
        if version.gone {
            return Verdict::Invisible;
        }
        if self.own(version.xmin) {
            if version.cmin >= cid {
                return Verdict::Invisible;
            }
        } else if !self.xids.has_committed(version.xmin) {
            return Verdict::Invisible;
        }
        let updater = self.updater(version);
        if let Some(xid) = updater.filter(|xid| self.own(*xid)) {
            debug_assert!(self.xids.is_running(xid));
            return if version.cmax >= cid {
                Verdict::ChangedBySelf
            } else {
                Verdict::Invisible
            };
        }
        let claimed = |claim: &Claim| self.xids.is_running(claim.xid);
        match updater {
            _ if version.claims.iter().any(claimed) => Verdict::Claimed,
            None => Verdict::Free,
            Some(_) if version.next.is_some() => Verdict::Updated,
            Some(_) => Verdict::Deleted,
        }
    }

    /// Those at work whose claims do not go with this one, in the order in which they are waited
    /// for.
    pub(super) fn in_the_way(&self, mode: Mode, version: &Version) -> Vec<Xid> {
        let mut xids: Vec<Xid> = version
            .claims
            .iter()
            .filter(|claim| claim.mode.conflicts(mode) && !self.own(claim.xid))
            .filter(|claim| self.xids.is_running(claim.xid))
            .map(|claim| claim.xid)
            .collect();
        xids.sort_unstable();
        xids
    }

    /// The claims that still count.
    pub(super) fn standing(&self, version: &Version) -> Vec<Claim> {
        let stands = |claim: &&Claim| {
            self.xids.is_running(claim.xid) || (claim.writes && !self.xids.has_aborted(claim.xid))
        };
        version.claims.iter().filter(stands).copied().collect()
    }

    /// The strongest claim that the session has on it already.
    pub(super) fn own_claim(&self, version: &Version) -> Option<Mode> {
        version
            .claims
            .iter()
            .filter(|claim| self.own(claim.xid))
            .map(|claim| claim.mode)
            .max()
    }

    /// The versions that an index entry leads to, from the one it points at.
    pub(super) fn chain(&self, heap: &Heap, root: Tid) -> Vec<Tid> {
        let mut chain = vec![root];
        let mut at = root;
        while let Some(next) = heap.versions[at].next {
            let updater = self.updater(&heap.versions[at]);
            let version = &heap.versions[next];
            if !version.heap_only || updater != Some(version.xmin) {
                break;
            }
            chain.push(next);
            at = next;
        }
        chain
    }
}
