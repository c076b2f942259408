//! The database: tables with a unique key, transactions that wait for each other's rows.
//!
//! Unless the scenario names a product ([`modelled`]), it is read committed, as far as the guards
//! can see it, and quick: a statement sees what was committed when it
//! ran, an insert of a key that an open transaction has inserted waits for that transaction, and
//! a row that an open transaction has changed or locked is waited for by every other writer. A
//! request runs at one instant unless it has to wait; a wait in a circle is refused at once, to
//! the one who closes it (PostgreSQL's victim, too, is the one whose check finds the cycle).

mod interest;
pub(crate) use interest::{call_due, is_open};
mod modelled;
mod sessions;
mod standby;
mod statements;
mod tables;

pub(crate) use modelled::Profile;
pub(crate) use tables::{Stored, Tables};

use crate::calls::CallKey;
use evidence::{Ids, SlotTag, Timestamp};
use modelled::{Mirror, Modelled};
use scheduler::ports::{Answer, Answers, Row, RowLock, Statement, Statements, Table};
use sessions::Sessions;
use standby::Standby;

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
    standby: Standby,
    replica_lag_ms: i64,
    /// While it restarts.
    pub(crate) down: bool,
}

/// What a scenario says of the database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// The product; `None`: what all of them have.
    pub(crate) profile: Option<Profile>,
    /// How far behind a standby may be, in milliseconds.
    pub(crate) behind_ms: i64,
    /// How far behind plain reads are, in milliseconds.
    pub(crate) replica_lag_ms: i64,
}

impl Database {
    /// No rows and no transactions, and a server of these rules.
    pub(crate) fn open(&mut self, rules: &Rules) {
        self.clear();
        self.modelled = rules
            .profile
            .as_ref()
            .map(|profile| Box::new(Modelled::new(profile.clone())));
        self.standby.open(rules.behind_ms.max(rules.replica_lag_ms));
        self.replica_lag_ms = rules.replica_lag_ms;
        self.down = false;
    }

    fn clear(&mut self) {
        self.tables.clear();
        self.sessions.clear();
        self.waiting.clear();
    }

    /// A request arrives.
    pub(crate) fn arrive(&mut self, now: Timestamp, working: Working) -> Ran {
        if self.replica_lag_ms > 0 && reads_only(&working) {
            return self.read_behind(now, working);
        }
        if let Some(modelled) = &mut self.modelled {
            let mut mirror = Mirror {
                rows: &mut self.tables,
                standby: &mut self.standby,
            };
            return modelled.arrive(now, working, &mut mirror);
        }
        self.sessions.open(working.session, working.interactive);
        self.go_on(now, working)
    }

    /// Whether no transaction is open, none waits, and nobody is behind.
    pub(crate) fn rests(&self, now: Timestamp) -> bool {
        self.standby.has_all(now) && self.is_idle()
    }

    fn is_idle(&self) -> bool {
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
            self.sessions
                .commit(now, working.session, &mut self.standby)
        } else {
            Committed::default()
        };
        Ran::Done(working, committed)
    }

    /// After a transaction has ended: runs those that waited for it, in the order in which they
    /// came. Gives what each came to.
    pub(crate) fn wake_waiting(&mut self, now: Timestamp) -> Vec<Ran> {
        if let Some(modelled) = &mut self.modelled {
            let mut mirror = Mirror {
                rows: &mut self.tables,
                standby: &mut self.standby,
            };
            return modelled.wake_waiting(now, &mut mirror);
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

    /// What a replica answers that does not have the last commits yet.
    fn read_behind(&self, now: Timestamp, mut working: Working) -> Ran {
        for statement in &working.statements {
            let (table, matches): (_, &dyn Fn(&Row) -> bool) = match statement {
                Statement::Select { table, key, .. } => (*table, &|row| row.key == *key),
                Statement::Scan { table, when } => (*table, &|row| when.holds(&row.cells, now)),
                _ => continue,
            };
            let mut rows = self
                .standby
                .rows(now, self.replica_lag_ms, table, &self.tables);
            rows.retain(|row| matches(row));
            working.answers.push(Answer::Rows(rows));
        }
        working.next = working.statements.len();
        Ran::Done(working, Committed::default())
    }

    /// The database stops without warning: every transaction is gone, and what was committed less
    /// than `lose_ms` ago. Gives the calls that waited.
    pub(crate) fn go_down(&mut self, now: Timestamp, lose_ms: i64) -> Vec<CallKey> {
        self.down = true;
        let mut calls: Vec<CallKey> = Vec::new();
        calls.extend(self.waiting.drain(..).filter_map(|working| working.call));
        self.sessions.rollback_all(&mut self.tables);
        if let Some(modelled) = &mut self.modelled {
            let mut mirror = Mirror {
                rows: &mut self.tables,
                standby: &mut self.standby,
            };
            calls.extend(modelled.crash(now, &mut mirror));
        }
        if lose_ms > 0 {
            self.standby.lose(now, lose_ms, &mut self.tables);
            if let Some(modelled) = &mut self.modelled {
                modelled.restore(now, &self.tables);
            }
        }
        calls
    }
}

/// Whether a request may go to a replica: plain reads outside a transaction.
fn reads_only(working: &Working) -> bool {
    !working.interactive
        && working.statements.iter().all(|statement| {
            matches!(
                statement,
                Statement::Scan { .. }
                    | Statement::Select {
                        lock: RowLock::None,
                        ..
                    }
            )
        })
}
