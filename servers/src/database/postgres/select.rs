//! SELECT.

use super::super::evaluate;
use super::super::values::compare;
use super::heap::{Mode, Tid};
use super::job::Job;
use super::plan::{Plan, plan};
use super::row_locks::{Locked, Want};
use super::scan::Scan;
use crate::broken::{self, Broken};
use scheduler::ports::Value;
use scheduler::ports::sql::{
    Locking, Order, Output, Predicate, Select, SqlError, Strength, TableDef,
};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::rc::Rc;

impl Job {
    /// The rows that a SELECT gives.
    pub(super) async fn select(&self, select: Select) -> Result<Vec<Vec<Value>>, SqlError> {
        let filter = self.resolved(select.filter.clone()).await?;
        let output = match select.output.clone() {
            Output::Each(scalars) => Output::Each(self.resolved_all(scalars).await?),
            Output::Count => Output::Count,
        };
        let definition = self.table(select.table);
        // A count is one row, whatever the limit.
        let limit = select.limit.filter(|_| output != Output::Count);
        let plan = plan(&definition, &filter, &select.order, limit);
        let mut scan = self.scan(select.table, &definition, &filter, &plan.way)?;
        let mut sorted = self.sorted(&select, &definition, &filter, &plan, &mut scan)?;
        let mut rows: Vec<Rc<[Value]>> = Vec::new();
        let wanted = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        while rows.len() < wanted {
            let next = match &mut sorted {
                Some(sorted) => sorted.pop_front(),
                None => self.matching(&select, &definition, &filter, &mut scan)?,
            };
            let Some(tid) = next else { break };
            let row = match select.locking {
                None => Some(self.row(select.table, tid)),
                Some(locking) => {
                    self.lock_row(&select, &definition, &filter, tid, locking)
                        .await?
                }
            };
            rows.extend(row);
        }
        let core = self.handle.borrow();
        let rows: Vec<Vec<Value>> = rows.iter().map(|row| row.to_vec()).collect();
        Ok(evaluate::output(
            &core,
            self.id,
            &definition,
            &output,
            &rows,
        ))
    }

    /// The next version that meets the condition.
    fn matching(
        &self,
        select: &Select,
        definition: &TableDef,
        filter: &Predicate,
        scan: &mut Scan,
    ) -> Result<Option<Tid>, SqlError> {
        while let Some(tid) = self.next(scan)? {
            if self.holds(definition, &self.row(select.table, tid), filter) {
                return Ok(Some(tid));
            }
        }
        Ok(None)
    }

    /// All rows, in order, where the way does not give them so. They are sorted before they are
    /// locked: by what the snapshot has.
    fn sorted(
        &self,
        select: &Select,
        definition: &TableDef,
        filter: &Predicate,
        plan: &Plan,
        scan: &mut Scan,
    ) -> Result<Option<VecDeque<Tid>>, SqlError> {
        if !plan.sorts {
            return Ok(None);
        }
        let mut found = Vec::new();
        while let Some(tid) = self.matching(select, definition, filter, scan)? {
            found.push((self.row(select.table, tid), tid));
        }
        found.sort_by(|(a, _), (b, _)| ordering(definition, &select.order, a, b));
        Ok(Some(found.into_iter().map(|(_, tid)| tid).collect()))
    }

    /// Locks a row; `None`: it is not given after all. Where there is a newer version that one is
    /// given, if it still meets the condition.
    async fn lock_row(
        &self,
        select: &Select,
        definition: &TableDef,
        filter: &Predicate,
        tid: Tid,
        locking: Locking,
    ) -> Result<Option<Rc<[Value]>>, SqlError> {
        let want = Want {
            mode: match locking.strength {
                Strength::Update => Mode::Exclusive,
                Strength::Share => Mode::Share,
            },
            when_locked: locking.when_locked,
            follow: true,
            newest: !self.keeps_snapshot,
        };
        match self.lock(select.table, tid, want).await? {
            Locked::Yes { tid, newer } => {
                let row = self.row(select.table, tid);
                let meets = !newer
                    || broken::is(Broken::PostgresNoRecheck)
                    || self.holds(definition, &row, filter);
                Ok(meets.then_some(row))
            }
            Locked::Updated | Locked::Deleted if self.keeps_snapshot => {
                Err(SqlError::SerializationFailure)
            }
            Locked::Skipped
            | Locked::Updated
            | Locked::Deleted
            | Locked::ChangedBySelf
            | Locked::Invisible => Ok(None),
        }
    }
}

/// The order of two rows under ORDER BY; NULL comes last, or first where the greatest does.
fn ordering(table: &TableDef, order: &[Order], a: &[Value], b: &[Value]) -> Ordering {
    for by in order {
        let at = usize::from(by.column.0);
        let kind = table.columns.get(at).map(|column| column.kind);
        let (Some(a), Some(b)) = (a.get(at), b.get(at)) else {
            continue;
        };
        let ordering =
            compare(a, b, kind).unwrap_or_else(|| (*a == Value::Null).cmp(&(*b == Value::Null)));
        let ordering = if by.descending {
            ordering.reverse()
        } else {
            ordering
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}
