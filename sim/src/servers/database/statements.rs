//! What one statement does.

use super::sessions::Sessions;
use super::tables::{Stored, Tables};
use evidence::{SlotTag, Timestamp};
use scheduler::ports::{
    Answer, Cells, Column, Condition, Expr, Key, OnConflict, Row, RowLock, Statement, Table,
};

/// What running a statement came to.
pub(super) enum Step {
    Answer(Answer),
    /// The transaction is to be rolled back.
    Abort(Answer),
    /// This transaction is in the way.
    WaitFor(u32),
}

/// Runs a statement of an open transaction.
pub(super) fn run(
    tables: &mut Tables,
    sessions: &mut Sessions,
    session: u32,
    statement: &Statement,
    now: Timestamp,
    slot: SlotTag,
) -> Step {
    let mut on = On {
        tables,
        sessions,
        session,
        now,
        slot,
    };
    match statement {
        Statement::Insert {
            table,
            key,
            cells,
            on_conflict,
        } => on.insert(*table, key, cells, *on_conflict),
        Statement::Update {
            table,
            key,
            when,
            set,
            required,
        } => on.update(*table, key, when, set, *required),
        Statement::Select { table, key, lock } => on.select(*table, key, *lock),
        Statement::Scan { table, when } => Step::Answer(Answer::Rows(on.scan(*table, when))),
        Statement::Take { table, when, set } => on.take(*table, when, set),
        Statement::Delete { table, key, when } => on.delete(*table, key, when),
    }
}

struct On<'a> {
    tables: &'a mut Tables,
    sessions: &'a mut Sessions,
    session: u32,
    now: Timestamp,
    slot: SlotTag,
}

impl On<'_> {
    fn put(&mut self, table: Table, key: &Key, row: Option<Stored>) {
        let before = self.tables.put(table, key, row);
        self.sessions.changed(self.session, table, key, before);
    }

    fn insert(&mut self, table: Table, key: &Key, cells: &[Expr], on_conflict: OnConflict) -> Step {
        if let Some(holder) = self.sessions.holder(self.session, table, key) {
            return Step::WaitFor(holder);
        }
        if self.tables.get(table, key).is_some() {
            return match on_conflict {
                OnConflict::Abort => Step::Abort(Answer::Conflict),
                OnConflict::Ignore => Step::Answer(Answer::Affected(0)),
            };
        }
        let mut row = Cells::new();
        for cell in cells {
            row.push(cell.evaluate(&[], self.now));
        }
        self.put(
            table,
            key,
            Some(Stored {
                cells: row,
                slot: self.slot,
            }),
        );
        Step::Answer(Answer::Affected(1))
    }

    fn update(
        &mut self,
        table: Table,
        key: &Key,
        when: &Condition,
        set: &[(Column, Expr)],
        required: bool,
    ) -> Step {
        if let Some(holder) = self.sessions.holder(self.session, table, key) {
            return Step::WaitFor(holder);
        }
        let changed = match self.tables.get(table, key) {
            Some(row) if when.holds(&row.cells, self.now) => {
                let mut cells = copy(&row.cells);
                for (column, value) in set {
                    if let Some(cell) = cells.get_mut(usize::from(column.0)) {
                        *cell = value.evaluate(&row.cells, self.now);
                    }
                }
                // A row that nobody's run has written belongs to nobody's slot.
                let slot = if self.slot == SlotTag::NONE {
                    row.slot
                } else {
                    self.slot
                };
                Some(Stored { cells, slot })
            }
            _ => None,
        };
        match changed {
            Some(row) => {
                self.put(table, key, Some(row));
                Step::Answer(Answer::Affected(1))
            }
            None if required => Step::Abort(Answer::Affected(0)),
            None => Step::Answer(Answer::Affected(0)),
        }
    }

    fn take(&mut self, table: Table, when: &Condition, set: &[(Column, Expr)]) -> Step {
        let free = |key: &Key| self.sessions.holder(self.session, table, key).is_none();
        let first = self
            .tables
            .rows(table)
            .find(|(key, row)| free(key) && when.holds(&row.cells, self.now))
            .map(|(key, _)| key.clone());
        let Some(key) = first else {
            return Step::Answer(Answer::Rows(Vec::new()));
        };
        self.update(table, &key, when, set, false);
        let taken = self.tables.get(table, &key).map(|stored| row(&key, stored));
        Step::Answer(Answer::Rows(taken.into_iter().collect()))
    }

    fn delete(&mut self, table: Table, key: &Key, when: &Condition) -> Step {
        if let Some(holder) = self.sessions.holder(self.session, table, key) {
            return Step::WaitFor(holder);
        }
        match self.tables.get(table, key) {
            Some(row) if when.holds(&row.cells, self.now) => {
                self.put(table, key, None);
                Step::Answer(Answer::Affected(1))
            }
            _ => Step::Answer(Answer::Affected(0)),
        }
    }

    fn select(&mut self, table: Table, key: &Key, lock: RowLock) -> Step {
        if lock != RowLock::None {
            match self.sessions.holder(self.session, table, key) {
                Some(_) if lock == RowLock::SkipLocked => {
                    return Step::Answer(Answer::Rows(Vec::new()));
                }
                Some(holder) => return Step::WaitFor(holder),
                None => {}
            }
            // A row that does not exist is not locked (PostgreSQL).
            if self.tables.get(table, key).is_some() {
                self.sessions.lock(self.session, table, key);
            }
        }
        let stored = match self.sessions.committed_version(self.session, table, key) {
            Some(before) => before,
            None => self.tables.get(table, key),
        };
        Step::Answer(Answer::Rows(
            stored.map(|stored| row(key, stored)).into_iter().collect(),
        ))
    }

    fn scan(&self, table: Table, when: &Condition) -> Vec<Row> {
        let visible = |key: &Key, stored: &Stored| -> Option<Row> {
            let stored = match self.sessions.committed_version(self.session, table, key) {
                Some(before) => before.cloned()?,
                None => stored.clone(),
            };
            when.holds(&stored.cells, self.now)
                .then(|| row(key, &stored))
        };
        let mut rows: Vec<Row> = self
            .tables
            .rows(table)
            .filter_map(|(key, stored)| visible(key, stored))
            .collect();
        let removed = self
            .sessions
            .removed_by_others(self.session, table, self.tables);
        if !removed.is_empty() {
            rows.extend(
                removed
                    .iter()
                    .filter_map(|(key, stored)| visible(key, stored)),
            );
            rows.sort_by(|a, b| a.key.cmp(&b.key));
        }
        rows
    }
}

/// Value by value: a row has few of them.
fn copy(cells: &Cells) -> Cells {
    let mut copy = Cells::new();
    for cell in cells {
        copy.push(cell.clone());
    }
    copy
}

fn row(key: &Key, stored: &Stored) -> Row {
    Row {
        key: key.clone(),
        cells: copy(&stored.cells),
        slot: stored.slot,
    }
}
