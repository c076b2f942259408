//! SERIALIZABLE: who read what somebody else then wrote.
//!
//! "R read, W wrote it since" means that R comes before W in any order of the transactions. Two
//! such steps in a row, T0 before T1 before T2 with T2 the first of them to commit, may close a
//! circle; where they come up one of the transactions has to go (serializable snapshot isolation,
//! `predicate.c` of PostgreSQL 15, whose rules these are: which one goes, and when nobody has to).

use super::super::session::SessionId;
use super::predicate::{Reads, Target};
use super::xids::{Snapshot, Xid};
use scheduler::ports::sql::SqlError;
use std::collections::BTreeMap;

/// A transaction at SERIALIZABLE, also some time after its end.
type Number = u64;

/// Later than every commit.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
struct Member {
    snapshot: Snapshot,
    xid: Option<Xid>,
    reads: Reads,
    wrote: bool,
    /// Has to be rolled back.
    doomed: bool,
    committed: bool,
    /// Committed without having written.
    read_only: bool,
    /// The last commit that it could see.
    last_seen: u64,
    prepared_at: u64,
    committed_at: u64,
    /// When the first of those committed that it read before.
    earliest_out: Option<u64>,
    /// No transaction from this one on had begun when it ended.
    finished_before: Option<Xid>,
}

impl Member {
    fn is_prepared(&self) -> bool {
        self.prepared_at != NEVER
    }
}

/// All transactions at SERIALIZABLE that still matter.
#[derive(Debug, Default)]
pub(super) struct Serializable {
    members: BTreeMap<Number, Member>,
    current: BTreeMap<SessionId, Number>,
    by_xid: BTreeMap<Xid, Number>,
    /// Who read before whom wrote, in the order in which it came up.
    conflicts: Vec<(Number, Number)>,
    next: Number,
    last_commit: u64,
}

impl Serializable {
    pub(super) fn begin(&mut self, id: SessionId, snapshot: Snapshot, xid: Option<Xid>) {
        let number = self.next;
        self.next += 1;
        let member = Member {
            snapshot,
            xid: None,
            reads: Reads::default(),
            wrote: false,
            doomed: false,
            committed: false,
            read_only: false,
            last_seen: self.last_commit,
            prepared_at: NEVER,
            committed_at: NEVER,
            earliest_out: None,
            finished_before: None,
        };
        self.members.insert(number, member);
        self.current.insert(id, number);
        if let Some(xid) = xid {
            self.name(id, xid);
        }
    }

    /// The transaction of the session has got its number.
    pub(super) fn name(&mut self, id: SessionId, xid: Xid) {
        if let Some((number, member)) = self.of(id) {
            member.xid = Some(xid);
            self.by_xid.insert(xid, number);
        }
    }

    fn of(&mut self, id: SessionId) -> Option<(Number, &mut Member)> {
        let number = *self.current.get(&id)?;
        Some((number, self.members.get_mut(&number)?))
    }

    pub(super) fn read(&mut self, id: SessionId, target: Target) {
        if let Some((_, member)) = self.of(id) {
            member.reads.add(target);
        }
    }

    /// Everything below it had ended when the session's transaction took its snapshot; `None`: the
    /// transaction is not at SERIALIZABLE. Whoever has to go goes here.
    pub(super) fn reader(&mut self, id: SessionId) -> Result<Option<Xid>, SqlError> {
        match self.of(id) {
            None => Ok(None),
            Some((_, member)) if member.doomed => Err(SqlError::SerializationFailure),
            Some((_, member)) => Ok(Some(member.snapshot.oldest)),
        }
    }

    /// The session comes upon what this transaction has written.
    pub(super) fn came_upon(&mut self, id: SessionId, writer: Xid) -> Result<(), SqlError> {
        let Some(me) = self.current.get(&id).copied() else {
            return Ok(());
        };
        let Some(other) = self.by_xid.get(&writer).copied() else {
            return Ok(());
        };
        let concurrent = self.members[&me].snapshot.was_running(writer);
        if other == me || self.members[&other].doomed || !concurrent {
            return Ok(());
        }
        self.flag(me, other, me)
    }

    /// The session is about to write here: everybody who has read it comes before. Whoever writes a
    /// row need not have read it, too (`forgets`), unless the write may be undone alone.
    pub(super) fn check_write(
        &mut self,
        id: SessionId,
        targets: &[Target],
        forgets: bool,
    ) -> Result<(), SqlError> {
        let Some((me, member)) = self.of(id) else {
            return Ok(());
        };
        if member.doomed {
            return Err(SqlError::SerializationFailure);
        }
        member.wrote = true;
        for target in targets {
            if forgets && matches!(target, Target::Version(..)) {
                self.members
                    .entry(me)
                    .and_modify(|member| member.reads.remove(*target));
            }
            for reader in self.readers(me, *target) {
                self.flag(reader, me, me)?;
            }
        }
        Ok(())
    }

    /// Who else has read it and was there at the same time.
    fn readers(&self, me: Number, target: Target) -> Vec<Number> {
        let oldest = self.members[&me].snapshot.oldest;
        self.members
            .iter()
            .filter(|(number, member)| **number != me && member.reads.contains(target))
            .filter(|(_, member)| {
                let overlaps = member.finished_before.is_none_or(|before| oldest < before);
                !member.doomed && (!member.committed || overlaps)
            })
            .map(|(number, _)| *number)
            .collect()
    }

    /// Notes that the reader comes before the writer, unless that makes a circle possible.
    fn flag(&mut self, reader: Number, writer: Number, me: Number) -> Result<(), SqlError> {
        if self.conflicts.contains(&(reader, writer)) {
            return Ok(());
        }
        if self.is_dangerous(reader, writer) {
            // The writer goes if it still can, else (having committed) the reader.
            if me == writer || self.members[&writer].is_prepared() {
                return Err(SqlError::SerializationFailure);
            }
            self.doom(writer);
        }
        self.conflicts.push((reader, writer));
        Ok(())
    }

    fn doom(&mut self, number: Number) {
        if let Some(member) = self.members.get_mut(&number) {
            member.doomed = true;
        }
    }

    /// Those that read what this one wrote, in the order in which it came up.
    fn before(&self, writer: Number) -> impl Iterator<Item = Number> {
        let into = self.conflicts.iter().filter(move |(_, to)| *to == writer);
        into.map(|(from, _)| *from)
    }

    /// Those that wrote what this one read.
    fn after(&self, reader: Number) -> impl Iterator<Item = Number> {
        let out = self
            .conflicts
            .iter()
            .filter(move |(from, _)| *from == reader);
        out.map(|(_, to)| *to)
    }

    fn is_at_work(&self, number: Number) -> bool {
        let member = &self.members[&number];
        !member.committed && !member.doomed
    }

    fn is_dangerous(&self, reader: Number, writer: Number) -> bool {
        let (r, w) = (&self.members[&reader], &self.members[&writer]);
        // The writer has committed, and somebody whom it has to come before did so earlier.
        if w.committed && w.earliest_out.is_some() {
            return true;
        }
        // The writer is in the middle: reader, writer, and behind it somebody who committed first.
        let pivot = self.after(writer).any(|last| {
            let last = &self.members[&last];
            last.is_prepared()
                && (!r.committed || last.prepared_at <= r.committed_at)
                && (!w.committed || last.prepared_at <= w.committed_at)
                && (!r.read_only || last.prepared_at <= r.last_seen)
        });
        if pivot {
            return true;
        }
        // The reader is in the middle, and the writer has committed first.
        w.is_prepared()
            && !r.read_only
            && self.before(reader).any(|first| {
                let first = &self.members[&first];
                !first.doomed
                    && (!first.committed || first.committed_at >= w.prepared_at)
                    && (!first.read_only || first.last_seen >= w.prepared_at)
            })
    }

    /// Before COMMIT: whoever is in the middle between somebody who is still at work and this one
    /// has to go, and this one if it was told so.
    pub(super) fn check_commit(&mut self, id: SessionId) -> Result<(), SqlError> {
        let Some(me) = self.current.get(&id).copied() else {
            return Ok(());
        };
        if self.members[&me].doomed {
            return Err(SqlError::SerializationFailure);
        }
        let middle: Vec<Number> = self.before(me).collect();
        for near in middle {
            let in_the_middle =
                |far: Number| far == me || (self.is_at_work(far) && !self.members[&far].read_only);
            if self.is_at_work(near) && self.before(near).any(in_the_middle) {
                self.doom(near);
            }
        }
        self.last_commit += 1;
        let now = self.last_commit;
        if let Some((_, member)) = self.of(id) {
            member.prepared_at = now;
        }
        Ok(())
    }

    /// The transaction of the session is over.
    pub(super) fn end(&mut self, id: SessionId, committed: bool, next: Xid) {
        let Some(me) = self.current.remove(&id) else {
            return;
        };
        if committed {
            self.has_committed(me, next);
        } else {
            self.forget(me);
        }
        self.forget_old();
    }

    fn has_committed(&mut self, me: Number, next: Xid) {
        self.last_commit += 1;
        let now = self.last_commit;
        let earliest_out = self
            .after(me)
            .map(|to| &self.members[&to])
            .filter(|member| member.committed)
            .map(|member| member.prepared_at)
            .min();
        let Some(member) = self.members.get_mut(&me) else {
            return;
        };
        member.committed = true;
        member.committed_at = now;
        member.read_only = !member.wrote;
        member.finished_before = Some(next);
        if !member.read_only {
            member.earliest_out = earliest_out;
        }
        let members = &self.members;
        self.conflicts.retain(|(from, to)| {
            let out_over = *from == me && members[to].committed;
            let in_over = *to == me && (members[from].committed || members[from].read_only);
            !out_over && !in_over
        });
    }

    /// Nobody who is at work can be in conflict with those that had ended before it began.
    fn forget_old(&mut self) {
        let at_work = self.members.values().filter(|member| !member.committed);
        let oldest = at_work.map(|member| member.snapshot.oldest).min();
        let old: Vec<Number> = self
            .members
            .iter()
            .filter(|(_, member)| match (member.finished_before, oldest) {
                (Some(before), Some(oldest)) => before <= oldest,
                (finished, None) => finished.is_some(),
                (None, Some(_)) => false,
            })
            .map(|(number, _)| *number)
            .collect();
        for number in old {
            self.forget(number);
        }
    }

    fn forget(&mut self, number: Number) {
        if let Some(xid) = self.members.remove(&number).and_then(|member| member.xid) {
            self.by_xid.remove(&xid);
        }
        self.conflicts
            .retain(|(from, to)| *from != number && *to != number);
    }
}
