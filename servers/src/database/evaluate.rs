//! Values and conditions of a statement, computed for a row.

use super::core::{Core, Handle, signalled};
use super::engine::Flavor;
use super::session::{SessionId, Waiting};
use super::values::compare;
use crate::broken::{self, Broken};
use scheduler::ports::sql::{
    Arithmetic, Comparison, Order, Output, Predicate, Reply, Scalar, SqlError, TableDef, Tag, Type,
};
use scheduler::ports::{Column, Value};
use std::cmp::Ordering;

/// What a statement computes with.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) core: &'a Core,
    pub(super) session: SessionId,
    /// The definition of the row's table; `None`: no row.
    pub(super) table: Option<&'a TableDef>,
    /// The row at hand.
    pub(super) row: &'a [Value],
    /// In the update part of an insert: the row that was to be inserted.
    pub(super) excluded: &'a [Value],
}

impl<'a> Scope<'a> {
    pub(super) fn of_row(
        core: &'a Core,
        session: SessionId,
        table: &'a TableDef,
        row: &'a [Value],
    ) -> Self {
        Scope {
            core,
            session,
            table: Some(table),
            row,
            excluded: &[],
        }
    }

    /// Without any row.
    pub(super) fn bare(core: &'a Core, session: SessionId) -> Self {
        Scope {
            core,
            session,
            table: None,
            row: &[],
            excluded: &[],
        }
    }

    /// The value; a subquery has to be resolved before.
    pub(super) fn value(&self, scalar: &Scalar) -> Value {
        match scalar {
            Scalar::Value(value) => value.clone(),
            Scalar::Column(column) => cell(self.row, *column),
            Scalar::Excluded(column) => cell(self.excluded, *column),
            Scalar::Now => Value::Int(self.now()),
            Scalar::Clock => Value::Int(as_int(self.core.now)),
            Scalar::Combined(how, a, b) => combine(*how, &self.value(a), &self.value(b)),
            Scalar::Concat(parts) => self.concat(parts),
            Scalar::Subquery(_) => Value::Null,
            Scalar::Sleep(_) => Value::Int(0),
            Scalar::Variable(name) => self.variable(name),
        }
    }

    fn now(&self) -> i64 {
        let session = self.core.session(self.session);
        as_int(match self.core.flavor {
            Flavor::Postgres if broken::is(Broken::PostgresNowOfStatement) => session.statement_at,
            Flavor::Postgres => session.transaction_at,
            Flavor::MariaDb if broken::is(Broken::MariaNowOfTransaction) => session.transaction_at,
            Flavor::MariaDb => session.statement_at,
        })
    }

    fn concat(&self, parts: &[Scalar]) -> Value {
        let mut text = String::new();
        for part in parts {
            match self.value(part) {
                Value::Null => return Value::Null,
                Value::Int(number) => text.push_str(&number.to_string()),
                Value::Text(part) => text.push_str(&part),
            }
        }
        Value::Text(text.into())
    }

    fn variable(&self, name: &str) -> Value {
        let session = self.core.session(self.session);
        let seconds = |ms: Option<u64>| Value::Int(as_int(ms.unwrap_or(0) / 1_000));
        match name {
            "in_transaction" => Value::Int(session.in_transaction.into()),
            "autocommit" => Value::Int(session.settings.autocommit.into()),
            "innodb_rollback_on_timeout" => Value::Int(0),
            "innodb_deadlock_detect" => Value::Int(1),
            "innodb_autoinc_lock_mode" => Value::Int(1),
            "innodb_snapshot_isolation" => Value::Int(session.settings.snapshot_isolation.into()),
            "innodb_lock_wait_timeout" => seconds(session.settings.lock_wait),
            "wait_timeout" => seconds(session.settings.idle_session),
            "idle_transaction_timeout" => seconds(session.settings.idle_in_transaction),
            "tx_isolation" | "transaction_isolation" => {
                let level = match session.settings.isolation {
                    scheduler::ports::Isolation::ReadUncommitted => "READ-UNCOMMITTED",
                    scheduler::ports::Isolation::ReadCommitted => "READ-COMMITTED",
                    scheduler::ports::Isolation::RepeatableRead => "REPEATABLE-READ",
                    scheduler::ports::Isolation::Serializable => "SERIALIZABLE",
                };
                Value::Text(level.into())
            }
            _ => Value::Null,
        }
    }

    /// Whether the condition holds; `None`: neither true nor false.
    pub(super) fn truth(&self, predicate: &Predicate) -> Option<bool> {
        match predicate {
            Predicate::Always => Some(true),
            Predicate::Compare(a, how, b) => {
                let kind = self.kind(a).or_else(|| self.kind(b));
                let ordering = compare(&self.value(a), &self.value(b), kind)?;
                Some(matches(*how, ordering))
            }
            Predicate::IsNull(scalar) => Some(self.value(scalar) == Value::Null),
            Predicate::Not(inner) => self.truth(inner).map(|truth| !truth),
            Predicate::All(all) => {
                if self.any_is(all, false) {
                    Some(false)
                } else if all.iter().all(|one| self.truth(one) == Some(true)) {
                    Some(true)
                } else {
                    None
                }
            }
            Predicate::Any(any) => {
                if self.any_is(any, true) {
                    Some(true)
                } else if any.iter().all(|one| self.truth(one) == Some(false)) {
                    Some(false)
                } else {
                    None
                }
            }
            Predicate::In(scalar, values) => {
                let of = |value: &Scalar| {
                    Predicate::Compare(scalar.clone(), Comparison::Equal, value.clone())
                };
                self.truth(&Predicate::Any(values.iter().map(of).collect()))
            }
        }
    }

    /// Whether a row is taken.
    pub(super) fn holds(&self, predicate: &Predicate) -> bool {
        self.truth(predicate) == Some(true)
    }

    fn any_is(&self, predicates: &[Predicate], truth: bool) -> bool {
        predicates.iter().any(|one| self.truth(one) == Some(truth))
    }

    fn kind(&self, scalar: &Scalar) -> Option<Type> {
        match scalar {
            Scalar::Column(column) | Scalar::Excluded(column) => {
                let columns = &self.table?.columns;
                Some(columns.get(usize::from(column.0))?.kind)
            }
            Scalar::Now | Scalar::Clock => Some(Type::Time { digits: 3 }),
            Scalar::Combined(_, a, b) => self
                .kind(a)
                .or_else(|| self.kind(b))
                .filter(|kind| matches!(kind, Type::Time { .. })),
            _ => None,
        }
    }

    /// What a SELECT or RETURNING gives of the row.
    pub(super) fn outputs(&self, output: &[Scalar]) -> Vec<Value> {
        output.iter().map(|scalar| self.value(scalar)).collect()
    }
}

/// The rows of a SELECT, from the rows that it has found (in the order in which it gives them).
pub(super) fn output(
    core: &Core,
    session: SessionId,
    table: &TableDef,
    output: &Output,
    rows: &[Vec<Value>],
) -> Vec<Vec<Value>> {
    match output {
        Output::Count => vec![vec![Value::Int(
            i64::try_from(rows.len()).unwrap_or(i64::MAX),
        )]],
        Output::Each(scalars) => rows
            .iter()
            .map(|row| Scope::of_row(core, session, table, row).outputs(scalars))
            .collect(),
    }
}

/// The order of two rows under ORDER BY.
pub(super) fn ordering(table: &TableDef, order: &[Order], a: &[Value], b: &[Value]) -> Ordering {
    order
        .iter()
        .map(|by| {
            let kind = table.columns.get(usize::from(by.column.0)).map(|c| c.kind);
            let (a, b) = (cell(a, by.column), cell(b, by.column));
            // NULL sorts as it does in an index; PostgreSQL puts it last, where no test looks.
            let ordering = compare(&a, &b, kind).unwrap_or_else(|| a.cmp(&b));
            if by.descending {
                ordering.reverse()
            } else {
                ordering
            }
        })
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// SELECT without a table. A SLEEP waits where it stands, so that what is behind it is computed
/// later.
pub(super) async fn values(
    handle: Handle,
    id: SessionId,
    scalars: Vec<Scalar>,
) -> Result<Reply, SqlError> {
    let mut row = Vec::with_capacity(scalars.len());
    for scalar in &scalars {
        if let Scalar::Sleep(ms) = scalar {
            sleep(&handle, id, *ms).await?;
        }
        row.push(Scope::bare(&handle.borrow(), id).value(scalar));
    }
    Ok(Reply {
        affected: Some(1),
        rows: Some(vec![row]),
        ..Reply::done(Tag::Select)
    })
}

/// Values among which a SLEEP stands: it waits where it stands, and the clock behind it is a later
/// one. `None`: there is none, and nothing to do.
pub(super) async fn slept(
    handle: &Handle,
    id: SessionId,
    scalars: impl Iterator<Item = &Scalar> + Clone,
) -> Result<Option<Vec<Scalar>>, SqlError> {
    if !scalars.clone().any(|one| matches!(one, Scalar::Sleep(_))) {
        return Ok(None);
    }
    let mut settled = Vec::new();
    for scalar in scalars {
        if let Scalar::Sleep(ms) = scalar {
            sleep(handle, id, *ms).await?;
        }
        settled.push(match scalar {
            Scalar::Sleep(_) | Scalar::Clock => {
                Scalar::Value(Scope::bare(&handle.borrow(), id).value(scalar))
            }
            other => other.clone(),
        });
    }
    Ok(Some(settled))
}

async fn sleep(handle: &Handle, id: SessionId, ms: u64) -> Result<(), SqlError> {
    {
        let mut core = handle.borrow_mut();
        let until = Some(core.now + ms);
        core.session_mut(id).waiting = Some(Waiting {
            until,
            check_at: None,
            named: true,
        });
    }
    match signalled(handle, id).await {
        Ok(()) | Err(SqlError::LockTimeout) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The cell of a column; NULL where the row is shorter.
pub(super) fn cell(row: &[Value], column: Column) -> Value {
    row.get(usize::from(column.0)).cloned().unwrap_or_default()
}

fn combine(how: Arithmetic, a: &Value, b: &Value) -> Value {
    let (Value::Int(a), Value::Int(b)) = (a, b) else {
        return Value::Null;
    };
    let result = match how {
        Arithmetic::Add => a.checked_add(*b),
        Arithmetic::Subtract => a.checked_sub(*b),
        Arithmetic::Remainder => a.checked_rem(*b),
    };
    result.map_or(Value::Null, Value::Int)
}

const fn matches(how: Comparison, ordering: Ordering) -> bool {
    match how {
        Comparison::Equal => ordering.is_eq(),
        Comparison::NotEqual => ordering.is_ne(),
        Comparison::Less => ordering.is_lt(),
        Comparison::AtMost => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::AtLeast => ordering.is_ge(),
    }
}

fn as_int(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}
