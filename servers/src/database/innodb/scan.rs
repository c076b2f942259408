//! Coming upon records one after the other, and locking them (`row_search_mvcc`).

use super::compatibility::{Mode, Span};
use super::plan::{Plan, Reach};
use super::records::{IndexId, Key, Row};
use super::versions::committed_row;
use super::waiting::{Asker, Got, Want};
use crate::database::evaluate::Scope;
use scheduler::ports::sql::{Predicate, SqlError, WhenLocked};
use scheduler::ports::{Table, Value};
use std::ops::Bound;

/// A row that is locked.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its key in the clustered index.
    pub(super) primary: Key,
    pub(super) row: Row,
}

/// A reading of records that locks them.
pub(super) struct Scan {
    asker: Asker,
    table: Table,
    plan: Plan,
    mode: Mode,
    when_locked: WhenLocked,
    /// Whether gaps are locked too.
    gaps: bool,
    /// UPDATE at READ COMMITTED: a row that somebody has locked is passed over if it does not match
    /// as it was committed last.
    semi_consistent: Option<Predicate>,
    /// The part of the index that is read.
    part: usize,
    at: Position,
    /// What was locked for the record at hand: let go again where the row is not wanted.
    fresh: Vec<(IndexId, Key)>,
}

/// Where a scan stands.
#[derive(Clone, Debug)]
enum Position {
    /// Before the first record of a part.
    Start,
    /// On a record that it has waited for: that one, or if it is gone the next.
    On(Key),
    /// Behind (or before, backward) a record.
    Past(Key),
}

/// What came of one record.
enum Step {
    Found(Found),
    /// On to the next record.
    Next,
    /// The same place again: something may have changed.
    Again,
    /// The part is read.
    End,
}

/// Whether the record of a row could be locked.
enum Behind {
    Row(Row),
    /// There is no row.
    Nothing,
    Waited,
    Skipped,
}

impl Scan {
    pub(super) fn new(
        asker: &Asker,
        table: Table,
        plan: Plan,
        mode: Mode,
        when_locked: WhenLocked,
    ) -> Self {
        Scan {
            gaps: super::select::locks_gaps(asker),
            asker: asker.clone(),
            table,
            plan,
            mode,
            when_locked,
            semi_consistent: None,
            part: 0,
            at: Position::Start,
            fresh: Vec::new(),
        }
    }

    /// Passes over rows that are locked and do not match.
    pub(super) fn semi_consistent(mut self, filter: &Predicate) -> Self {
        let point = matches!(self.plan.reaches.as_slice(), [Reach::Point(_)]);
        if !self.gaps && self.plan.index == 0 && !point {
            self.semi_consistent = Some(filter.clone());
        }
        self
    }

    /// The next row, locked.
    pub(super) async fn next(&mut self) -> Result<Option<Found>, SqlError> {
        self.fresh.clear();
        while let Some(reach) = self.plan.reaches.get(self.part).cloned() {
            let key = self.record(&reach);
            match self.step(&reach, key.clone()).await? {
                Step::Found(found) => {
                    self.pass(&reach, key, true);
                    return Ok(Some(found));
                }
                Step::Next => {
                    self.fresh.clear();
                    self.pass(&reach, key, false);
                }
                Step::Again => {
                    if let Some(key) = key {
                        self.at = Position::On(key);
                    }
                }
                Step::End => self.end_part(),
            }
        }
        Ok(None)
    }

    fn end_part(&mut self) {
        self.part += 1;
        self.at = Position::Start;
    }

    /// Goes past a record; a unique index has no second one with the same key.
    fn pass(&mut self, reach: &Reach, key: Option<Key>, found: bool) {
        match key {
            Some(key) if !(found && matches!(reach, Reach::Point(_))) => {
                self.at = Position::Past(key);
            }
            _ => self.end_part(),
        }
    }

    /// Where the row at hand is not wanted, READ COMMITTED lets its lock go again.
    pub(super) fn release(&mut self) {
        if self.gaps {
            return;
        }
        let mut core = self.asker.handle.borrow_mut();
        let store = &mut core.innodb;
        for (index, key) in self.fresh.drain(..) {
            let Some(record) = store.index(index).records.get(&key) else {
                continue;
            };
            if record.last_writer() != self.asker.trx || !index.is_clustered() {
                let heap = record.heap;
                store.locks.unlock(self.asker.trx, index, heap, self.mode);
            }
        }
        store.settle();
        super::tell(&mut core);
    }

    fn index(&self) -> IndexId {
        IndexId {
            table: self.table,
            number: self.plan.index,
        }
    }

    /// The record at hand; `None`: the end of the index.
    fn record(&self, reach: &Reach) -> Option<Key> {
        let core = self.asker.handle.borrow();
        let index = core.innodb.index(self.index());
        if self.plan.backward {
            let to = match &self.at {
                Position::Start => Bound::Unbounded,
                Position::On(key) => Bound::Included(key),
                Position::Past(key) => Bound::Excluded(key),
            };
            return index.last(to).map(|(key, _)| key.clone());
        }
        let start;
        let from = match (&self.at, reach) {
            (Position::On(key), _) => Bound::Included(key),
            (Position::Past(key), _) => Bound::Excluded(key),
            (Position::Start, Reach::Point(key) | Reach::Equal(key)) => Bound::Included(key),
            (
                Position::Start,
                Reach::Between {
                    low: Some((low, _)),
                    ..
                },
            ) => {
                start = vec![low.clone()];
                Bound::Included(&start)
            }
            (Position::Start, Reach::Between { high: Some(_), .. }) => {
                // NULL is before every value, and no value is before another that is NULL.
                start = vec![Value::Null];
                Bound::Included(&start)
            }
            (Position::Start, Reach::Between { .. }) => Bound::Unbounded,
        };
        let below = |key: &Key| match (&self.at, reach) {
            (
                Position::Start,
                Reach::Between {
                    low: Some((low, false)),
                    ..
                },
            ) => key[0] == *low,
            (
                Position::Start,
                Reach::Between {
                    low: None,
                    high: Some(_),
                },
            ) => key[0] == Value::Null,
            _ => false,
        };
        let mut next = index.first(from);
        while let Some((key, _)) = next.filter(|(key, _)| below(key)) {
            next = index.first(Bound::Excluded(key));
        }
        next.map(|(key, _)| key.clone())
    }

    async fn step(&mut self, reach: &Reach, key: Option<Key>) -> Result<Step, SqlError> {
        if self.plan.backward && matches!(self.at, Position::Start) && self.gaps {
            self.lock(None, Span::NextKey).await?;
        }
        let Some(key) = key else {
            if self.gaps && !self.plan.backward {
                self.lock(None, Span::NextKey).await?;
            }
            return Ok(Step::End);
        };
        let exact = matches!(reach, Reach::Point(_) | Reach::Equal(_));
        if exact && !reach.holds(&key) {
            if self.gaps {
                self.lock(Some(&key), Span::Gap).await?;
            }
            return Ok(Step::End);
        }
        if self.is_gone(&key) {
            return Ok(Step::Next);
        }
        let span = self.span(reach, &key);
        if let Some(step) = self.lock_entry(&key, span).await? {
            return Ok(step);
        }
        if !reach.is_before_end(&key) {
            self.release();
            return Ok(Step::End);
        }
        self.read(reach, &key).await
    }

    /// Locks the record at hand; gives the step where that is all there is to it.
    async fn lock_entry(&mut self, key: &Key, span: Span) -> Result<Option<Step>, SqlError> {
        if self.semi_consistent.is_some() && self.is_passed_over(key, span) {
            return Ok(Some(Step::Next));
        }
        match self.lock(Some(key), span).await? {
            Got::Waited => return Ok(Some(Step::Again)),
            Got::Skipped => return Ok(Some(Step::Next)),
            Got::Fresh => self.fresh.push((self.index(), key.clone())),
            Got::Had => {}
        }
        Ok(None)
    }

    /// Whether a record is locked by somebody else and does not match as it was committed last.
    fn is_passed_over(&self, key: &Key, span: Span) -> bool {
        let Some(filter) = &self.semi_consistent else {
            return false;
        };
        let want = self.want(self.index(), Some(key), span);
        let mut core = self.asker.handle.borrow_mut();
        if !core.innodb.is_in_the_way(self.asker.trx, &want) {
            return false;
        }
        let core = &*core;
        let record = core.innodb.index(self.index()).records.get(key);
        let Some(row) = record.and_then(committed_row) else {
            return true;
        };
        let def = &core.tables[&self.table];
        !Scope::of_row(core, self.asker.session, def, row).holds(filter)
    }

    /// What of a record is locked.
    fn span(&self, reach: &Reach, key: &Key) -> Span {
        let clustered = self.plan.index == 0;
        // The row that a primary key names is locked alone; by another unique key the gap before it
        // is locked too.
        let unique = clustered && matches!(reach, Reach::Point(_));
        // `>=` that meets its very value needs no lock on the gap before it.
        let core = self.asker.handle.borrow();
        let columns = core.innodb.index(self.index()).columns.len();
        let at_start = clustered
            && columns == 1
            && matches!(self.at, Position::Start)
            && matches!(reach, Reach::Between { low: Some((low, true)), .. } if key[0] == *low);
        match self.gaps && !unique && !at_start {
            true => Span::NextKey,
            false => Span::Record,
        }
    }

    /// Whether a record's row is gone for good, which READ COMMITTED passes over without a lock.
    fn is_gone(&self, key: &Key) -> bool {
        let core = self.asker.handle.borrow();
        let record = core.innodb.index(self.index()).records.get(key);
        !self.gaps
            && record.is_some_and(|record| {
                let writer = record.last_writer();
                let open = writer != self.asker.trx && core.innodb.is_active(writer);
                record.is_deleted() && !open
            })
    }

    /// Fetches the row behind a record that is locked.
    async fn read(&mut self, reach: &Reach, key: &Key) -> Result<Step, SqlError> {
        let (deleted, primary) = {
            let core = self.asker.handle.borrow();
            let Some(record) = core.innodb.index(self.index()).records.get(key) else {
                return Ok(Step::Again);
            };
            let table = &core.innodb.tables[&self.table];
            (record.is_deleted(), table.primary_of(self.plan.index, key))
        };
        if self.plan.index == 0 {
            self.check_snapshot(key)?;
        }
        if deleted {
            self.release();
            let only = self.plan.index == 0 && matches!(reach, Reach::Point(_));
            return Ok(if only { Step::End } else { Step::Next });
        }
        let behind = match self.plan.index {
            0 => self.row(&primary).map_or(Behind::Nothing, Behind::Row),
            _ => self.lock_row(&primary).await?,
        };
        Ok(match behind {
            Behind::Row(row) => Step::Found(Found { primary, row }),
            Behind::Nothing | Behind::Skipped => Step::Next,
            Behind::Waited => Step::Again,
        })
    }

    /// From a secondary entry to its row, which is locked too unless the entry has all that a shared
    /// read needs.
    async fn lock_row(&mut self, primary: &Key) -> Result<Behind, SqlError> {
        let clustered = IndexId::clustered(self.table);
        if !(self.plan.covering && self.mode == Mode::Shared) {
            let want = self.want(clustered, Some(primary), Span::Record);
            match self.asker.lock(&want).await? {
                Got::Waited => return Ok(Behind::Waited),
                Got::Skipped => return Ok(Behind::Skipped),
                Got::Fresh => self.fresh.push((clustered, primary.clone())),
                Got::Had => {}
            }
            self.check_snapshot(primary)?;
        }
        Ok(self.row(primary).map_or(Behind::Nothing, Behind::Row))
    }

    fn row(&self, primary: &Key) -> Option<Row> {
        let core = self.asker.handle.borrow();
        let index = core.innodb.index(IndexId::clustered(self.table));
        let version = index.records.get(primary)?.versions.last()?;
        (!version.deleted).then(|| version.row.clone())
    }

    fn check_snapshot(&self, primary: &Key) -> Result<(), SqlError> {
        let clustered = IndexId::clustered(self.table);
        let changed = self.asker.has_changed(clustered, primary);
        if changed {
            Err(SqlError::RecordChanged)
        } else {
            Ok(())
        }
    }

    fn want(&self, index: IndexId, key: Option<&Key>, span: Span) -> Want {
        Want {
            index,
            key: key.cloned(),
            mode: self.mode,
            span,
            implicit: false,
            when_locked: self.when_locked,
        }
    }

    async fn lock(&self, key: Option<&Key>, span: Span) -> Result<Got, SqlError> {
        self.asker.lock(&self.want(self.index(), key, span)).await
    }
}
