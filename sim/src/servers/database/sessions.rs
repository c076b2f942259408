//! Open transactions: what they have changed, which rows they hold, whom they wait for.

use super::standby::Standby;
use super::tables::{Stored, Tables};
use super::{Committed, Table};
use evidence::Timestamp;
use rustc_hash::FxHashSet;
use scheduler::ports::Key;
use scheduler::tables;

struct Change {
    table: Table,
    key: Key,
    before: Option<Stored>,
}

struct Session {
    id: u32,
    interactive: bool,
    changes: Vec<Change>,
    locks: Vec<(Table, Key)>,
    waits_for: Option<u32>,
}

/// The open transactions, few at a time.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Vec<Session>,
    next_own: u32,
    spare: Vec<Session>,
    /// Connections that are closed: a statement that is still on its way finds nobody.
    closed: FxHashSet<u32>,
}

impl Sessions {
    pub(super) fn clear(&mut self) {
        while let Some(session) = self.open.pop() {
            self.spare(session);
        }
        self.next_own = 0;
        self.closed.clear();
    }

    fn spare(&mut self, mut session: Session) {
        session.changes.clear();
        session.locks.clear();
        session.waits_for = None;
        self.spare.push(session);
    }

    /// An identifier that no open transaction has.
    pub(crate) fn fresh(&mut self) -> u32 {
        self.next_own += 1;
        self.next_own
    }

    /// Whether no transaction is open.
    pub(crate) fn none_open(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn open(&mut self, id: u32, interactive: bool) {
        if self.open.iter().any(|session| session.id == id) {
            return;
        }
        let mut session = self.spare.pop().unwrap_or(Session {
            id,
            interactive,
            changes: Vec::new(),
            locks: Vec::new(),
            waits_for: None,
        });
        session.id = id;
        session.interactive = interactive;
        self.open.push(session);
    }

    /// The connection of an interactive transaction is closed.
    pub(crate) fn close_connection(&mut self, id: u32) {
        self.closed.insert(id);
    }

    /// Whether the connection of an interactive transaction is closed.
    pub(crate) fn is_closed(&self, id: u32) -> bool {
        self.closed.contains(&id)
    }

    fn get(&mut self, id: u32) -> Option<&mut Session> {
        self.open.iter_mut().find(|session| session.id == id)
    }

    /// Another open transaction that holds this row, by a change or a lock.
    pub(super) fn holder(&self, id: u32, table: Table, key: &Key) -> Option<u32> {
        if self.open.len() < 2 {
            return None;
        }
        let holds = |session: &&Session| {
            session
                .changes
                .iter()
                .any(|change| change.table == table && change.key == *key)
                || session
                    .locks
                    .iter()
                    .any(|lock| lock.0 == table && lock.1 == *key)
        };
        self.open
            .iter()
            .filter(|session| session.id != id)
            .find(holds)
            .map(|session| session.id)
    }

    /// What a row looked like before another open transaction changed it; `None`: no other has.
    pub(super) fn committed_version(
        &self,
        id: u32,
        table: Table,
        key: &Key,
    ) -> Option<Option<&Stored>> {
        if self.open.len() < 2 {
            return None;
        }
        self.open
            .iter()
            .filter(|session| session.id != id)
            .flat_map(|session| &session.changes)
            .find(|change| change.table == table && change.key == *key)
            .map(|change| change.before.as_ref())
    }

    /// Rows that other open transactions have removed: still there for everybody else.
    pub(super) fn removed_by_others(
        &self,
        id: u32,
        table: Table,
        tables: &Tables,
    ) -> Vec<(Key, Stored)> {
        if self.open.len() < 2 {
            return Vec::new();
        }
        self.open
            .iter()
            .filter(|session| session.id != id)
            .flat_map(|session| &session.changes)
            .filter(|change| change.table == table && tables.get(table, &change.key).is_none())
            .filter_map(|change| Some((change.key.clone(), change.before.clone()?)))
            .collect()
    }

    pub(super) fn lock(&mut self, id: u32, table: Table, key: &Key) {
        if let Some(session) = self.get(id) {
            session.locks.push((table, key.clone()));
        }
    }

    /// Notes that a row is about to be something else; the first image counts.
    pub(super) fn changed(&mut self, id: u32, table: Table, key: &Key, before: Option<Stored>) {
        if let Some(session) = self.get(id)
            && !session
                .changes
                .iter()
                .any(|change| change.table == table && change.key == *key)
        {
            session.changes.push(Change {
                table,
                key: key.clone(),
                before,
            });
        }
    }

    pub(super) fn waits(&mut self, id: u32, holder: u32) {
        if let Some(session) = self.get(id) {
            session.waits_for = Some(holder);
        }
    }

    /// Whether the transaction it waits for is still open.
    pub(super) fn still_waits(&self, id: u32) -> bool {
        let holder = self
            .open
            .iter()
            .find(|session| session.id == id)
            .and_then(|s| s.waits_for);
        holder.is_some_and(|holder| self.open.iter().any(|session| session.id == holder))
    }

    /// Whether `holder`, directly or through others, waits for `id`.
    pub(super) fn would_deadlock(&self, id: u32, holder: u32) -> bool {
        let mut at = Some(holder);
        // No chain is longer than there are transactions.
        for _ in 0..self.open.len() {
            match at {
                None => return false,
                Some(session) if session == id => return true,
                Some(session) => {
                    at = self
                        .open
                        .iter()
                        .find(|s| s.id == session)
                        .and_then(|s| s.waits_for);
                }
            }
        }
        false
    }

    fn close(&mut self, id: u32) -> Option<Session> {
        let place = self.open.iter().position(|session| session.id == id)?;
        let mut session = self.open.remove(place);
        session.waits_for = None;
        session.locks.clear();
        Some(session)
    }

    /// The changes are there for everybody.
    pub(super) fn commit(&mut self, now: Timestamp, id: u32, standby: &mut Standby) -> Committed {
        let mut committed = Committed::default();
        if let Some(mut session) = self.close(id) {
            for change in &session.changes {
                committed.tables |= 1 << change.table.0;
                committed.effects +=
                    u32::from(change.table == tables::EFFECTS && change.before.is_none());
            }
            if standby.listens() {
                let before = session.changes.drain(..);
                let before = before.map(|change| (change.table, change.key, change.before));
                standby.commit(now, before.collect());
            }
            session.changes.clear();
            self.spare.push(session);
        }
        committed
    }

    /// Everything is as it was before.
    pub(crate) fn rollback(&mut self, id: u32, tables: &mut Tables) {
        if let Some(mut session) = self.close(id) {
            for change in session.changes.drain(..).rev() {
                tables.put(change.table, &change.key, change.before);
            }
            self.spare.push(session);
        }
    }

    /// Every transaction is gone.
    pub(super) fn rollback_all(&mut self, tables: &mut Tables) {
        while let Some(id) = self.open.last().map(|session| session.id) {
            self.closed.insert(id);
            self.rollback(id, tables);
        }
    }
}
