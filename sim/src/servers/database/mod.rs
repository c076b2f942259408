//! The database: tables with a unique key, transactions that wait for each other's rows.
//!
//! Unless the scenario names a product ([`modelled`]), it is read committed, as far as the guards
//! can see it, and quick: a statement sees what was committed when it
//! ran, an insert of a key that an open transaction has inserted waits for that transaction, and
//! a row that an open transaction has changed or locked is waited for by every other writer. A
//! request runs at one instant unless it has to wait; a wait in a circle is refused at once, to
//! the one who closes it (PostgreSQL's victim, too, is the one whose check finds the cycle).

mod interest;
mod modelled;
mod sessions;
mod statements;
mod tables;

pub(crate) use modelled::Profile;
pub(crate) use tables::{Stored, Tables};

use crate::calls::CallKey;
use evidence::{Ids, SlotTag, Timestamp};
use modelled::Modelled;
use scheduler::ports::{Answers, Statements, Table};
use sessions::Sessions;

/// What a call asks of the database.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseRequest {
    /// The open transaction that the statements belong to; `None`: one of their own.
    pub(crate) session: Option<u32>,
    pub(crate) statements: Statements,
    /// Whether the transaction ends with them.
    pub(crate) commit: bool,
}

/// A request at work in the database.
pub(crate) struct Working {
    pub(crate) call: Option<CallKey>,
    pub(crate) session: u32,
    pub(crate) interactive: bool,
    pub(crate) statements: Statements,
    pub(crate) next: usize,
    pub(crate) answers: Answers,
    pub(crate) commit: bool,
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
    pub(crate) ids: Ids,
}

/// What running a request came to.
pub(crate) enum Ran {
    /// Every statement is done; the answers, and what was committed.
    Done(Working, Committed),
    /// It waits for another transaction.
    Waits,
    /// It was rolled back: waiting would never end, or it cannot be put in order with others.
    Refused(Working),
}

/// What a commit changed, as far as others care.
#[derive(Clone, Debug, Default)]
pub(crate) struct Committed {
    /// Tables that have changed, as a bit set.
    pub(crate) tables: u32,
    /// Effects that were inserted.
    pub(crate) effects: u32,
}

impl Committed {
    pub(crate) const fn touches(&self, table: Table) -> bool {
        self.tables & (1 << table.0) != 0
    }
}

/// The state of the database.
#[derive(Default)]
pub(crate) struct Database {
    pub(crate) tables: Tables,
    pub(crate) sessions: Sessions,
    waiting: Vec<Working>,
    /// The product that the scenario names does the work.
    modelled: Option<Box<Modelled>>,
}

impl Database {
    /// No rows and no transactions, and a server of this profile.
    pub(crate) fn open(&mut self, profile: Option<&Profile>) {
        self.clear();
        self.modelled = profile.map(|profile| Box::new(Modelled::new(profile.clone())));
    }

    fn clear(&mut self) {
        self.tables.clear();
        self.sessions.clear();
        self.waiting.clear();
    }

    /// A request arrives.
    pub(crate) fn arrive(&mut self, now: Timestamp, working: Working) -> Ran {
        if let Some(modelled) = &mut self.modelled {
            return modelled.arrive(now, working, &mut self.tables);
        }
        self.sessions.open(working.session, working.interactive);
        self.go_on(now, working)
    }

    /// Whether no transaction is open and none waits.
    pub(crate) fn rests(&self) -> bool {
        match &self.modelled {
            Some(modelled) => modelled.rests(),
            None => self.waiting.is_empty() && self.sessions.none_open(),
        }
    }

    /// Runs a request from where it is to its end, or to its next wait.
    fn go_on(&mut self, now: Timestamp, mut working: Working) -> Ran {
        let slot: SlotTag = working.ids.slot;
        while working.next < working.statements.len() {
            let statement = &working.statements[working.next];
            let step = statements::run(
                &mut self.tables,
                &mut self.sessions,
                working.session,
                statement,
                now,
                slot,
            );
            match step {
                statements::Step::Answer(answer) => {
                    working.answers.push(answer);
                    working.next += 1;
                }
                statements::Step::Abort(answer) => {
                    working.answers.push(answer);
                    self.sessions.rollback(working.session, &mut self.tables);
                    return Ran::Done(working, Committed::default());
                }
                statements::Step::WaitFor(holder) => {
                    if self.sessions.would_deadlock(working.session, holder) {
                        self.sessions.rollback(working.session, &mut self.tables);
                        return Ran::Refused(working);
                    }
                    self.sessions.waits(working.session, holder);
                    self.waiting.push(working);
                    return Ran::Waits;
                }
            }
        }
        let committed = if working.commit || !working.interactive {
            self.sessions.commit(working.session)
        } else {
            Committed::default()
        };
        Ran::Done(working, committed)
    }

    /// After a transaction has ended: runs those that waited for it, in the order in which they
    /// came. Gives what each came to.
    pub(crate) fn wake_waiting(&mut self, now: Timestamp) -> Vec<Ran> {
        if let Some(modelled) = &mut self.modelled {
            return modelled.wake_waiting(now, &mut self.tables);
        }
        let mut outcomes = Vec::new();
        let mut place = 0;
        while place < self.waiting.len() {
            let session = self.waiting[place].session;
            if self.sessions.still_waits(session) {
                place += 1;
                continue;
            }
            let working = self.waiting.remove(place);
            match self.go_on(now, working) {
                // It stands at the end of the line again.
                Ran::Waits => {}
                ran => outcomes.push(ran),
            }
        }
        outcomes
    }

    /// An open transaction is over without a commit: its client is gone or gave up.
    pub(crate) fn abandon(&mut self, now: Timestamp, session: u32) {
        self.sessions.close_connection(session);
        if let Some(modelled) = &mut self.modelled {
            return modelled.abandon(now, session);
        }
        self.waiting.retain(|working| working.session != session);
        self.sessions.rollback(session, &mut self.tables);
    }

    /// When a server that waits for something next does something by itself.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.modelled.as_ref()?.next_deadline()
    }
}
