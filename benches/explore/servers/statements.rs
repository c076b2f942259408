//! A database that knows nothing of the scenario: it runs the statements that the pipeline sends.
//!
//! The statements are those of `scheduler` (dispatch, guards, relay), built for every call as there.

use super::{Key, LEASE_MS, MAX_ATTEMPTS, RELAY_AFTER_MS, RunKey, SWEEP_AFTER_MS, Store, key};
use evidence::{Ids, RecordAtRest, RecordState, Slot, SlotTag, TimerId, Timestamp};
use scheduler::guards::{state_number, state_of};
use scheduler::ports::{
    Answer, Answers, Cells, Column, Condition, Expr, OnConflict, Row, RowLock, Statement, Table,
    Test, Value,
};
use scheduler::tables::{COUNT, OUTBOX, RUNS, TIMERS, outbox, runs, timers};
use std::collections::BTreeMap;

#[derive(Clone)]
struct Stored {
    cells: Cells,
    slot: SlotTag,
}

/// Tables of keyed rows; a request is a transaction.
#[derive(Default)]
pub struct StatementDatabase {
    tables: [BTreeMap<Key, Stored>; COUNT],
    /// What the rows that the transaction has changed were before.
    before: Vec<(Table, Key, Option<Stored>)>,
}

impl StatementDatabase {
    fn run(&mut self, now: Timestamp, slot: SlotTag, statements: &[Statement]) -> Answers {
        let mut answers = Answers::new();
        for statement in statements {
            let answer = self.answer(now, slot, statement);
            let conflicts = answer == Answer::Conflict;
            answers.push(answer);
            if conflicts {
                while let Some((table, key, row)) = self.before.pop() {
                    self.put(table, &key, row);
                }
                break;
            }
        }
        self.before.clear();
        answers
    }

    fn put(&mut self, table: Table, key: &Key, row: Option<Stored>) -> Option<Stored> {
        let rows = &mut self.tables[usize::from(table.0)];
        match row {
            Some(row) => rows.insert(key.clone(), row),
            None => rows.remove(key),
        }
    }

    fn change(&mut self, table: Table, key: &Key, row: Option<Stored>) {
        let before = self.put(table, key, row);
        self.before.push((table, key.clone(), before));
    }

    fn get(&self, table: Table, key: &Key) -> Option<&Stored> {
        self.tables[usize::from(table.0)].get(key)
    }

    fn answer(&mut self, now: Timestamp, slot: SlotTag, statement: &Statement) -> Answer {
        match statement {
            Statement::Insert {
                table,
                key,
                cells,
                on_conflict,
            } => {
                if self.get(*table, key).is_some() {
                    return match on_conflict {
                        OnConflict::Abort => Answer::Conflict,
                        OnConflict::Ignore => Answer::Affected(0),
                    };
                }
                let cells = cells.iter().map(|cell| cell.evaluate(&[], now)).collect();
                self.change(*table, key, Some(Stored { cells, slot }));
                Answer::Affected(1)
            }
            Statement::Update {
                table,
                key,
                when,
                set,
                ..
            } => match self.get(*table, key) {
                Some(row) if when.holds(&row.cells, now) => {
                    let mut cells = row.cells.clone();
                    for (column, value) in set {
                        cells[usize::from(column.0)] = value.evaluate(&row.cells, now);
                    }
                    self.change(*table, key, Some(Stored { cells, slot }));
                    Answer::Affected(1)
                }
                _ => Answer::Affected(0),
            },
            Statement::Select { table, key, .. } => {
                let row = self.get(*table, key).map(|stored| Row {
                    key: key.clone(),
                    cells: stored.cells.clone(),
                    slot: stored.slot,
                });
                Answer::Rows(row.into_iter().collect())
            }
            Statement::Scan { .. } | Statement::Take { .. } | Statement::Delete { .. } => {
                unreachable!("no call of the standard scenario scans or deletes")
            }
        }
    }
}

fn state(state: RecordState) -> Expr {
    Expr::from(state_number(state))
}

fn is(state: RecordState) -> Test {
    Test::Is(runs::STATE, state_number(state))
}

fn update(table: Table, key: &Key, when: Condition, set: Vec<(Column, Expr)>) -> Statement {
    Statement::Update {
        table,
        key: key.clone(),
        when,
        set,
        required: false,
    }
}

fn select(table: Table, key: &Key) -> Statement {
    Statement::Select {
        table,
        key: key.clone(),
        lock: RowLock::None,
    }
}

fn number(cells: &[Value], column: Column) -> i64 {
    cells[usize::from(column.0)].int()
}

fn trace(ids: &Ids) -> Expr {
    Expr::from(ids.trace.map_or(0, |trace| trace.0 as i64))
}

fn text(ids: &Ids) -> Expr {
    Expr::Value(Value::Text(key(ids).clone()))
}

/// The row of a run that nobody has been told of yet, its outbox row, and the timer's position.
fn claim(ids: &Ids, timer: &TimerId) -> Vec<Statement> {
    let scheduled = ids.run.as_ref().map(RunKey::scheduled).unwrap_or_default();
    let position = Expr::from(scheduled.0);
    vec![
        Statement::Insert {
            table: RUNS,
            key: key(ids).clone(),
            cells: vec![
                state(RecordState::Created),
                Expr::from(0),
                Expr::from(0),
                Expr::Now { plus_ms: 0 },
                trace(ids),
                text(ids),
            ],
            on_conflict: OnConflict::Abort,
        },
        Statement::Insert {
            table: OUTBOX,
            key: key(ids).clone(),
            cells: vec![
                Expr::from(0),
                trace(ids),
                text(ids),
                Expr::Now { plus_ms: 0 },
            ],
            on_conflict: OnConflict::Abort,
        },
        update(
            TIMERS,
            timer.text(),
            Condition::all([Test::AtMost(timers::CURSOR, position.clone())]),
            vec![(timers::CURSOR, position)],
        ),
    ]
}

/// Make the record; or start the next attempt of a run that waits; or take over an abandoned one.
fn enter(ids: &Ids, token: u64) -> Vec<Statement> {
    let over = Test::AtMost(runs::UNTIL, Expr::Now { plus_ms: 0 });
    let lease = Expr::Now { plus_ms: LEASE_MS };
    let not_last = Test::AtMost(runs::ATTEMPT, Expr::from(i64::from(MAX_ATTEMPTS) - 1));
    let own = |when| {
        let set = vec![
            (runs::STATE, state(RecordState::Running)),
            (runs::ATTEMPT, Expr::Plus(runs::ATTEMPT, 1)),
            (runs::OWNER, Expr::from(token as i64)),
            (runs::UNTIL, lease.clone()),
        ];
        update(RUNS, key(ids), when, set)
    };
    let queued = Test::AtMost(runs::STATE, state(RecordState::Queued));
    let waiting = Condition::all([queued, not_last.clone()]).or_all([
        is(RecordState::Failed),
        over.clone(),
        not_last.clone(),
    ]);
    let abandoned = Condition::all([is(RecordState::Running), over, not_last]);
    vec![
        Statement::Insert {
            table: RUNS,
            key: key(ids).clone(),
            cells: vec![
                state(RecordState::Running),
                Expr::from(1),
                Expr::from(token as i64),
                lease.clone(),
                trace(ids),
                text(ids),
            ],
            on_conflict: OnConflict::Ignore,
        },
        own(waiting),
        own(abandoned),
        select(RUNS, key(ids)),
    ]
}

fn read(answers: &Answers) -> Option<&Row> {
    answers.last()?.rows().first()
}

impl Store for StatementDatabase {
    fn resume(&mut self, timer: &TimerId, started: Timestamp) -> Timestamp {
        let statements = vec![
            Statement::Insert {
                table: TIMERS,
                key: timer.text().clone(),
                cells: vec![Expr::from(started.0 - 1)],
                on_conflict: OnConflict::Ignore,
            },
            select(TIMERS, timer.text()),
        ];
        let answers = self.run(started, SlotTag::NONE, &statements);
        let position = read(&answers).map(|row| number(&row.cells, timers::CURSOR));
        Timestamp(position.unwrap_or(started.0 - 1))
    }

    fn claim(&mut self, now: Timestamp, ids: &Ids, timer: &TimerId) -> bool {
        let answers = self.run(now, ids.slot, &claim(ids, timer));
        answers.last().is_some_and(Answer::changed)
    }

    fn mark(&mut self, now: Timestamp, ids: &Ids) -> bool {
        let statements = vec![
            update(
                OUTBOX,
                key(ids),
                Condition::always(),
                vec![(outbox::SENT, Expr::from(1))],
            ),
            update(
                RUNS,
                key(ids),
                Condition::all([is(RecordState::Created)]),
                vec![
                    (runs::STATE, state(RecordState::Queued)),
                    (runs::UNTIL, Expr::Now { plus_ms: 0 }),
                ],
            ),
        ];
        let answers = self.run(now, ids.slot, &statements);
        answers.last().is_some_and(Answer::changed)
    }

    fn enter(&mut self, now: Timestamp, ids: &Ids, token: u64) -> Option<u32> {
        let answers = self.run(now, ids.slot, &enter(ids, token));
        let row = read(&answers)?;
        let own = number(&row.cells, runs::OWNER) == token as i64;
        own.then(|| number(&row.cells, runs::ATTEMPT) as u32)
    }

    fn finish(&mut self, now: Timestamp, ids: &Ids, token: u64) -> bool {
        let owned = Test::Is(runs::OWNER, token as i64);
        let statements = vec![
            update(
                RUNS,
                key(ids),
                Condition::all([owned]),
                vec![
                    (runs::STATE, state(RecordState::Succeeded)),
                    (runs::ATTEMPT, Expr::from(i64::from(ids.attempt))),
                    (runs::UNTIL, Expr::Value(Value::Null)),
                ],
            ),
            select(RUNS, key(ids)),
        ];
        let answers = self.run(now, ids.slot, &statements);
        answers.first().is_some_and(Answer::changed)
    }

    fn relay_due(&self) -> Option<i64> {
        let rows = self.tables[usize::from(OUTBOX.0)].values();
        let pending = rows.filter(|row| number(&row.cells, outbox::SENT) == 0);
        pending
            .map(|row| number(&row.cells, outbox::SINCE) + RELAY_AFTER_MS)
            .min()
    }

    fn recovery_due(&self) -> Option<i64> {
        let due = |row: &Stored| {
            let until = number(&row.cells, runs::UNTIL);
            match state_of(number(&row.cells, runs::STATE)) {
                Some(RecordState::Running) => Some(until),
                Some(RecordState::Queued | RecordState::Failed) => Some(until + SWEEP_AFTER_MS),
                _ => None,
            }
        };
        let rows = self.tables[usize::from(RUNS.0)].values();
        rows.filter_map(due).min()
    }

    fn pending(&self) -> impl Iterator<Item = Slot> {
        let rows = self.tables[usize::from(OUTBOX.0)].values();
        let pending = rows.filter(|row| number(&row.cells, outbox::SENT) == 0);
        pending.filter_map(|row| row.slot.truth())
    }

    fn records(&self) -> impl Iterator<Item = RecordAtRest> {
        let rows = self.tables[usize::from(RUNS.0)].values();
        rows.filter_map(|row| {
            let state = state_of(number(&row.cells, runs::STATE))?;
            Some(RecordAtRest {
                slot: row.slot.truth()?,
                state,
                listed: matches!(state, RecordState::Created | RecordState::Queued),
            })
        })
    }
}
