//! Claims on rows: FOR UPDATE, FOR SHARE, and the claim of whoever changes a row.

use super::super::session::SessionId;
use super::heap::{Claim, Mode, Tid};
use super::job::Job;
use super::visibility::{Dirty, Verdict};
use super::waiting::{self, Place};
use super::xids::Xid;
use super::{Store, transaction};
use crate::broken::{self, Broken};
use scheduler::ports::Table;
use scheduler::ports::sql::{SqlError, WhenLocked};

/// How a lock is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) mode: Mode,
    pub(super) when_locked: WhenLocked,
    /// Whether newer versions are locked on the way (SELECT ... FOR does it).
    pub(super) follow: bool,
    /// Whether the newest version is locked where there is a newer one (READ COMMITTED).
    pub(super) newest: bool,
}

/// What the wish for a lock came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locked {
    /// This version is locked; `newer`: it is not the one that was asked for.
    Yes { tid: Tid, newer: bool },
    /// SKIP LOCKED, and somebody has it.
    Skipped,
    /// There is a newer version.
    Updated,
    /// The row is gone.
    Deleted,
    /// This very statement has changed it.
    ChangedBySelf,
    /// It is not there for this statement.
    Invisible,
}

/// A version that was put behind another, and by whom.
#[derive(Clone, Copy, Debug)]
struct Newer {
    by: Xid,
    tid: Tid,
}

impl Job {
    /// Locks a version, or the newest one of its row.
    pub(super) async fn lock(
        &self,
        table: Table,
        tid: Tid,
        want: Want,
    ) -> Result<Locked, SqlError> {
        let mut at = tid;
        loop {
            let locked = self.lock_version((table, at), want).await?;
            let (Locked::Updated, true) = (locked, want.newest) else {
                return Ok(match locked {
                    Locked::Yes { tid: locked, .. } => Locked::Yes {
                        tid: locked,
                        newer: locked != tid,
                    },
                    other => other,
                });
            };
            waiting::overtaken(&self.handle, self.id).await;
            match self.newest(table, at, want).await? {
                Ok(newest) => at = newest,
                Err(ended) => return Ok(ended),
            }
        }
    }

    /// Follows the versions of a row to the newest, waiting for whoever is changing it.
    async fn newest(
        &self,
        table: Table,
        from: Tid,
        want: Want,
    ) -> Result<Result<Tid, Locked>, SqlError> {
        let mut at = from;
        let mut step = true;
        loop {
            let busy = {
                let core = self.handle.borrow();
                let store = &core.postgres;
                if step {
                    let next = store.version(table, at).and_then(|version| version.next);
                    let Some(next) = next else {
                        return Ok(Err(Locked::Deleted));
                    };
                    at = next;
                }
                let Some(version) = store.version(table, at) else {
                    return Ok(Err(Locked::Deleted));
                };
                match store.view(self.id).dirty(version) {
                    Dirty::Dead => None,
                    Dirty::Live if store.xids.is_own(version.xmin, self.id) => {
                        return Ok(if version.cmin >= self.cid {
                            Err(Locked::ChangedBySelf)
                        } else {
                            Ok(at)
                        });
                    }
                    Dirty::Live => return Ok(Ok(at)),
                    Dirty::Arriving(xid) | Dirty::Leaving(xid) => Some(xid),
                }
            };
            step = busy.is_none();
            if let Some(xid) = busy {
                match want.when_locked {
                    WhenLocked::Skip => return Ok(Err(Locked::Skipped)),
                    WhenLocked::Fail => return Err(SqlError::LockNotAvailable),
                    WhenLocked::Wait => waiting::end_of(&self.handle, self.id, xid).await?,
                }
            }
        }
    }

    async fn lock_version(&self, place: Place, want: Want) -> Result<Locked, SqlError> {
        let (_, tid) = place;
        // Whoever has some claim already must not stand in the queue: somebody in front of it may
        // be waiting for that claim.
        let (has_enough, skips_queue) = self.has_claim(place, want.mode);
        if has_enough {
            return Ok(Locked::Yes { tid, newer: false });
        }
        loop {
            let (verdict, busy, newer) = self.look(place, want.mode);
            let refused = match verdict {
                Verdict::Free => None,
                Verdict::Claimed if busy.is_empty() => None,
                Verdict::Claimed => {
                    let waited = self.wait_for(place, want, &busy, skips_queue).await?;
                    if !waited {
                        Some(Locked::Skipped)
                    } else {
                        if let Some(newer) = newer.filter(|_| want.follow) {
                            self.lock_newer(place.0, newer, want.mode).await?;
                        }
                        continue;
                    }
                }
                Verdict::Updated => Some(Locked::Updated),
                Verdict::Deleted => Some(Locked::Deleted),
                Verdict::ChangedBySelf => Some(Locked::ChangedBySelf),
                Verdict::Invisible => Some(Locked::Invisible),
            };
            if refused.is_none() {
                self.claim(place, want.mode);
            }
            waiting::done_with(&mut self.handle.borrow_mut(), self.id, place);
            return Ok(refused.unwrap_or(Locked::Yes { tid, newer: false }));
        }
    }

    /// Whether the transaction's own claim is enough, and whether it has any.
    fn has_claim(&self, (table, tid): Place, mode: Mode) -> (bool, bool) {
        let core = self.handle.borrow();
        let store = &core.postgres;
        let Some(version) = store.version(table, tid) else {
            return (false, false);
        };
        let changed = store.view(self.id).updater(version).is_some();
        match store.view(self.id).own_claim(version) {
            Some(own) if own >= mode && !changed => (true, true),
            own => (false, own.is_some()),
        }
    }

    /// The verdict, who is in the way, and the version that one of those has put behind this one.
    fn look(&self, (table, tid): Place, mode: Mode) -> (Verdict, Vec<Xid>, Option<Newer>) {
        let core = self.handle.borrow();
        let store = &core.postgres;
        let Some(version) = store.version(table, tid) else {
            return (Verdict::Invisible, Vec::new(), None);
        };
        let view = store.view(self.id);
        let newer = view.updater(version).zip(version.next);
        let newer = newer.map(|(by, tid)| Newer { by, tid });
        let verdict = view.verdict(self.cid, version);
        (verdict, view.in_the_way(mode, version), newer)
    }

    /// False where it is not to wait and would have to.
    async fn wait_for(
        &self,
        place: Place,
        want: Want,
        busy: &[Xid],
        skips_queue: bool,
    ) -> Result<bool, SqlError> {
        let when_locked = match want.when_locked {
            WhenLocked::Skip if broken::is(Broken::PostgresSkipWaits) => WhenLocked::Wait,
            other => other,
        };
        let (handle, id) = (&self.handle, self.id);
        if !skips_queue && !waiting::turn(handle, id, place, want.mode, when_locked).await? {
            return Ok(false);
        }
        for xid in busy {
            let runs = self.handle.borrow().postgres.xids.is_running(*xid);
            match when_locked {
                WhenLocked::Wait => waiting::end_of(handle, id, *xid).await?,
                WhenLocked::Skip if runs => return Ok(false),
                WhenLocked::Fail if runs => return Err(SqlError::LockNotAvailable),
                WhenLocked::Skip | WhenLocked::Fail => {}
            }
        }
        Ok(true)
    }

    /// Locks the version that somebody who was waited for has put in the place of another.
    async fn lock_newer(&self, table: Table, newer: Newer, mode: Mode) -> Result<(), SqlError> {
        loop {
            let busy = {
                let core = self.handle.borrow();
                let store = &core.postgres;
                let view = store.view(self.id);
                let Some(version) = store.version(table, newer.tid) else {
                    return Ok(());
                };
                // Undone, or changed once more: then there is nothing to lock here.
                let stands = version.xmin == newer.by && store.xids.has_committed(newer.by);
                let busy = view.in_the_way(mode, version);
                if !stands || (busy.is_empty() && view.updater(version).is_some()) {
                    return Ok(());
                }
                busy
            };
            if busy.is_empty() {
                let place = (table, newer.tid);
                if !self.has_claim(place, mode).0 {
                    self.claim(place, mode);
                }
                return Ok(());
            }
            for xid in busy {
                waiting::end_of(&self.handle, self.id, xid).await?;
            }
        }
    }

    /// Waits until nobody else has a claim on a version that is to be changed. `Free`: it may be
    /// changed now, and the session is at the head of the queue until it says otherwise.
    pub(super) async fn prepare_change(&self, place: Place) -> Result<Verdict, SqlError> {
        transaction::xid(&mut self.handle.borrow_mut(), self.id);
        let want = Want {
            mode: Mode::Exclusive,
            when_locked: WhenLocked::Wait,
            follow: false,
            newest: false,
        };
        loop {
            let (verdict, busy, _) = self.look(place, Mode::Exclusive);
            match verdict {
                Verdict::Claimed if !busy.is_empty() => {
                    let (_, skips_queue) = self.has_claim(place, Mode::Exclusive);
                    self.wait_for(place, want, &busy, skips_queue).await?;
                }
                Verdict::Free | Verdict::Claimed => return Ok(Verdict::Free),
                other => {
                    waiting::done_with(&mut self.handle.borrow_mut(), self.id, place);
                    return Ok(other);
                }
            }
        }
    }

    fn claim(&self, place: Place, mode: Mode) {
        let mut core = self.handle.borrow_mut();
        let xid = transaction::xid(&mut core, self.id);
        let claim = Claim {
            xid,
            mode,
            writes: false,
        };
        core.postgres.add_claim(self.id, place, claim);
    }
}

impl Store {
    /// Adds a claim to those that still stand.
    pub(super) fn add_claim(&mut self, id: SessionId, (table, tid): Place, claim: Claim) {
        let Some(version) = self.version(table, tid) else {
            return;
        };
        let mut claims = self.view(id).standing(version);
        // A lock of the same transaction is made stronger; a change stands beside the locks.
        claims.retain(|other| other.xid != claim.xid || other.writes);
        claims.push(claim);
        if let Some(version) = self.version_mut(table, tid) {
            version.claims = claims;
        }
    }
}
