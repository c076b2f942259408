//! A database in memory.

use super::lock;
use crate::ports::{
    Answer, Answers, At, CallError, Cells, Clock, Column, Condition, Database, Expr, Fut,
    Isolation, Key, OnConflict, Row, Statement, Statements, Table, Transaction, Value,
};
use evidence::{SlotTag, Timestamp};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Tables of keyed rows. One round trip is one transaction; a transaction that stays open across
/// round trips has the whole database to itself until it ends.
#[derive(Clone)]
pub struct MemoryDatabase(Arc<Shared>);

struct Shared {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tables: Vec<BTreeMap<Key, Row>>,
    /// The open transaction that has the database to itself.
    owner: Option<u64>,
    last_transaction: u64,
    waiting: Vec<Waker>,
}

/// What a row was before a transaction changed it, in the order of the changes.
type Undo = Vec<(Table, Key, Option<Row>)>;

impl MemoryDatabase {
    /// Without any row; `clock` is the database's own.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        MemoryDatabase(Arc::new(Shared {
            clock,
            state: Mutex::default(),
        }))
    }

    /// The rows of a table, in key order, as they are now.
    pub fn rows(&self, table: Table) -> Vec<Row> {
        let state = lock(&self.0.state);
        let rows = state.tables.get(usize::from(table.0));
        rows.map_or_else(Vec::new, |rows| rows.values().cloned().collect())
    }
}

impl Shared {
    /// Runs the statements once no other transaction has the database.
    async fn run(
        &self,
        slot: SlotTag,
        statements: Statements,
        transaction: Option<u64>,
    ) -> (Answers, Undo, bool) {
        poll_fn(|context| {
            let mut state = lock(&self.state);
            if state.owner.is_some() && state.owner != transaction {
                state.waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            state.owner = transaction;
            Poll::Ready(state.run(slot, &statements, self.clock.now()))
        })
        .await
    }
}

impl State {
    /// The answers, how to undo what was done, and whether the transaction may go on; if it may
    /// not, what this round trip has done is undone already.
    fn run(
        &mut self,
        slot: SlotTag,
        statements: &[Statement],
        now: Timestamp,
    ) -> (Answers, Undo, bool) {
        let mut round = Round {
            tables: &mut self.tables,
            undo: Undo::new(),
            slot,
            now,
        };
        let mut answers = Answers::new();
        for statement in statements {
            let (answer, goes_on) = round.answer(statement);
            answers.push(answer);
            if !goes_on {
                let undo = std::mem::take(&mut round.undo);
                self.undo(undo);
                return (answers, Undo::new(), false);
            }
        }
        let undo = round.undo;
        (answers, undo, true)
    }

    fn undo(&mut self, undo: Undo) {
        for (table, key, row) in undo.into_iter().rev() {
            let Some(rows) = self.tables.get_mut(usize::from(table.0)) else {
                continue;
            };
            match row {
                Some(row) => rows.insert(key, row),
                None => rows.remove(&key),
            };
        }
    }

    fn release(&mut self) {
        self.owner = None;
        for waker in self.waiting.drain(..) {
            waker.wake();
        }
    }
}

/// One round trip at work.
struct Round<'a> {
    tables: &'a mut Vec<BTreeMap<Key, Row>>,
    undo: Undo,
    slot: SlotTag,
    now: Timestamp,
}

impl Round<'_> {
    fn table(&mut self, table: Table) -> &mut BTreeMap<Key, Row> {
        let place = usize::from(table.0);
        if self.tables.len() <= place {
            self.tables.resize_with(place + 1, BTreeMap::new);
        }
        &mut self.tables[place]
    }

    /// The answer, and whether the transaction goes on.
    fn answer(&mut self, statement: &Statement) -> (Answer, bool) {
        match statement {
            Statement::Insert {
                table,
                key,
                cells,
                on_conflict,
            } => self.insert(*table, key, cells, *on_conflict),
            Statement::Update {
                table,
                key,
                when,
                set,
                required,
            } => {
                let changed = self.change(*table, key, when, |row, now| assign(row, set, now));
                (Answer::Affected(u32::from(changed)), changed || !required)
            }
            Statement::Select { table, key, .. } => {
                let row = self.table(*table).get(key).cloned();
                (Answer::Rows(row.into_iter().collect()), true)
            }
            Statement::Scan { table, when } => {
                let now = self.now;
                let rows = self.table(*table).values();
                let found = rows.filter(|row| when.holds(&row.cells, now)).cloned();
                (Answer::Rows(found.collect()), true)
            }
            Statement::Take { table, when, set } => {
                let now = self.now;
                let mut rows = self.table(*table).values();
                let first = rows.find(|row| when.holds(&row.cells, now));
                let Some(key) = first.map(|row| row.key.clone()) else {
                    return (Answer::Rows(Vec::new()), true);
                };
                self.change(*table, &key, when, |row, now| assign(row, set, now));
                let row = self.table(*table).get(&key).cloned();
                (Answer::Rows(row.into_iter().collect()), true)
            }
            Statement::Delete { table, key, when } => {
                let there = self.change(*table, key, when, |_, _| {});
                if there {
                    self.table(*table).remove(key);
                }
                (Answer::Affected(u32::from(there)), true)
            }
        }
    }

    fn insert(
        &mut self,
        table: Table,
        key: &Key,
        cells: &[Expr],
        on_conflict: OnConflict,
    ) -> (Answer, bool) {
        let (slot, now) = (self.slot, self.now);
        let rows = self.table(table);
        if rows.contains_key(key) {
            return match on_conflict {
                OnConflict::Abort => (Answer::Conflict, false),
                OnConflict::Ignore => (Answer::Affected(0), true),
            };
        }
        let nothing = Cells::new();
        let row = Row {
            key: key.clone(),
            cells: cells
                .iter()
                .map(|expr| expr.evaluate(&nothing, now))
                .collect(),
            slot,
        };
        rows.insert(key.clone(), row);
        self.undo.push((table, key.clone(), None));
        (Answer::Affected(1), true)
    }

    /// Changes the row where the condition holds; false if there is none.
    fn change(
        &mut self,
        table: Table,
        key: &Key,
        when: &Condition,
        change: impl FnOnce(&mut Row, Timestamp),
    ) -> bool {
        let (slot, now) = (self.slot, self.now);
        let Some(row) = self.table(table).get_mut(key) else {
            return false;
        };
        if !when.holds(&row.cells, now) {
            return false;
        }
        let before = row.clone();
        change(row, now);
        // A row that nobody's run has written belongs to nobody's slot.
        if slot != SlotTag::NONE {
            row.slot = slot;
        }
        self.undo.push((table, key.clone(), Some(before)));
        true
    }
}

/// Gives the row's columns new values.
fn assign(row: &mut Row, set: &[(Column, Expr)], now: Timestamp) {
    let before = row.cells.clone();
    for (column, expr) in set {
        let place = usize::from(column.0);
        if row.cells.len() <= place {
            row.cells.resize(place + 1, Value::Null);
        }
        row.cells[place] = expr.evaluate(&before, now);
    }
}

impl Database for MemoryDatabase {
    fn execute<'a>(
        &'a self,
        at: At<'a>,
        statements: Statements,
    ) -> Fut<'a, Result<Answers, CallError>> {
        Box::pin(async move {
            let (answers, _, _) = self.0.run(at.ids.slot, statements, None).await;
            Ok(answers)
        })
    }

    fn begin(&self, _: Isolation) -> Box<dyn Transaction> {
        let mut state = lock(&self.0.state);
        state.last_transaction += 1;
        Box::new(MemoryTransaction {
            database: self.0.clone(),
            number: state.last_transaction,
            undo: Undo::new(),
            ended: false,
        })
    }
}

/// Has the database to itself from its first statement to its end.
struct MemoryTransaction {
    database: Arc<Shared>,
    number: u64,
    undo: Undo,
    ended: bool,
}

impl MemoryTransaction {
    fn end(&mut self, commit: bool) {
        self.ended = true;
        let undo = std::mem::take(&mut self.undo);
        let mut state = lock(&self.database.state);
        if state.owner == Some(self.number) {
            if !commit {
                state.undo(undo);
            }
            state.release();
        }
    }
}

impl Transaction for MemoryTransaction {
    fn execute<'a>(
        &'a mut self,
        at: At<'a>,
        statements: Statements,
        commit: bool,
    ) -> Fut<'a, Result<Answers, CallError>> {
        Box::pin(async move {
            if self.ended {
                return Err(CallError::Refused);
            }
            let round = self
                .database
                .run(at.ids.slot, statements, Some(self.number));
            let (answers, undo, goes_on) = round.await;
            self.undo.extend(undo);
            if commit || !goes_on {
                self.end(goes_on);
            }
            Ok(answers)
        })
    }
}

impl Drop for MemoryTransaction {
    fn drop(&mut self) {
        if !self.ended {
            self.end(false);
        }
    }
}

#[cfg(test)]
mod tests;
